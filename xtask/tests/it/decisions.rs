//! Every decision says what was decided, why, what was rejected, and the price.

use crate::root;

#[test]
fn every_page_says_all_four() {
    let folder = root().join("docs/decisions");
    let list = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut pages = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "README.md" {
            continue;
        }
        pages += 1;
        let page = std::fs::read_to_string(&path).unwrap();
        for part in ["**What.**", "**Why.**", "**Rejected.**", "**Price.**"] {
            assert!(page.contains(part), "{name} does not say {part}");
        }
        assert!(list.contains(&format!("({name})")), "{name} is not in the list");
    }
    assert!(pages >= 12, "{pages}");
}
