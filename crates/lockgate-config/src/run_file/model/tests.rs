use super::*;

fn table(text: &str) -> Result<ModelTable, toml::de::Error> {
    toml::from_str(text)
}

const ANTHROPIC: &str = "provider = 'anthropic'\nmodel = 'm'\n";

#[test]
fn every_server_has_the_same_keys() {
    for provider in ["openai-compatible", "anthropic"] {
        let text = format!(
            "provider = '{provider}'\nmodel = 'm'\nbase_url = 'http://localhost'\napi_key_env = 'K'\ntimeout = '5s'\n\
             max_output_tokens = 9\ntemperature = 0.5\nallow_insecure = true\nprice = {{ input = 3, output = 15.5 }}"
        );
        let (ModelTable::OpenaiCompatible(table) | ModelTable::Anthropic(table)) = table(&text).unwrap() else {
            panic!("{provider} is scripted");
        };
        assert_eq!((table.model.as_str(), table.max_output_tokens, table.allow_insecure), ("m", Some(9), true));
        let price = table.price.unwrap();
        assert_eq!((price.input.millionths(), price.output.millionths()), (3_000_000, 15_500_000));
        assert_eq!(price.cached_input, None);
    }
}

#[test]
fn an_unknown_key_is_refused() {
    for wrong in
        ["modle = 'x'", "price = { input = 1, output = 1, cached = 1 }", "price = { input = 1 }", "script = 'a'"]
    {
        assert!(table(&format!("{ANTHROPIC}{wrong}")).is_err(), "{wrong}");
    }
    assert!(table("provider = 'anthropic'").is_err());
}

#[test]
fn a_price_is_exact() {
    let price = |text: &str| match table(&format!("{ANTHROPIC}price = {{ input = {text}, output = 0 }}"))? {
        ModelTable::Anthropic(table) => Ok(table.price.unwrap().input.millionths()),
        other => panic!("{other:?}"),
    };
    for (text, millionths) in
        [("0", 0), ("0.075", 75_000), ("1.1", 1_100_000), ("0.000001", 1), ("75", 75_000_000), ("2.5e-1", 250_000)]
    {
        assert_eq!(price(text), Ok::<_, toml::de::Error>(millionths), "{text}");
    }
    for wrong in ["-1", "-0.5", "0.0000001", "nan", "inf", "1e300", "'3'", "true"] {
        let said = price(wrong).err().map(|error| error.to_string());
        assert!(said.is_some_and(|said| said.contains("a price in US dollars from 0 up")), "{wrong}");
    }
}
