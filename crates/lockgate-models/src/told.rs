//! What a model is told of a call: its text, and the images in it, which every provider takes in a place of its own.

use std::borrow::Cow;

use lockgate_contract::document::{Document, Kind, Node};
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

/// A result as a model is told it.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    /// JSON, without the bytes of the images.
    pub(crate) text: Cow<'a, str>,
    /// The images, in their order.
    pub(crate) images: Vec<Image<'a>>,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image<'a> {
    /// Its type, such as `image/png`.
    pub(crate) mime_type: Cow<'a, str>,
    /// Its bytes in Base64.
    pub(crate) data: Cow<'a, str>,
}

/// An image as a `data:` URL.
#[derive(Debug)]
pub(crate) struct DataUrl<'a>(pub(crate) Image<'a>);

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("data:{};base64,{}", self.0.mime_type, self.0.data))
    }
}

impl<'a> Told<'a> {
    /// Takes the images out of a result that is content (MCP 2026-07-28 §tools): blocks of the type `image` in its list `content`.
    pub(crate) fn of(result: &'a Document) -> Self {
        let root = result.root();
        // Beside `meta`, where a person put other arguments in place of the model's.
        let of = [Some(root), root.get("data")].into_iter().flatten();
        let images: Vec<Image<'a>> = of.flat_map(blocks).filter_map(image).collect();
        let text = if images.is_empty() {
            Cow::Borrowed(result.text())
        } else {
            serde_json::to_string(&Without(root, 0)).map_or(Cow::Borrowed("null"), Cow::Owned)
        };
        Self { text, images }
    }
}

fn blocks(result: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    result.get("content").into_iter().flat_map(|content| content.elements())
}

fn image(block: Node<'_>) -> Option<Image<'_>> {
    if block.kind() != Kind::Object || block.get("type")?.as_str()? != "image" {
        return None;
    }
    let mime_type = block.get("mimeType")?.as_str().filter(|mime| mime.starts_with("image/"))?;
    let data = block.get("data")?.as_str()?;
    let is_base64 = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    (is_base64 && !data.is_empty()).then_some(Image { mime_type, data })
}

/// A result whose images have no `data`. The number says how deep it stands: a result, its `content` or `data`, a block.
struct Without<'a>(Node<'a>, u8);

/// The level of a block's list below a result.
const LIST: u8 = 1;

impl Serialize for Without<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(node, depth) = *self;
        if node.kind() == Kind::Array && depth == LIST {
            let mut list = serializer.serialize_seq(None)?;
            for block in node.elements() {
                match image(block) {
                    Some(_) => list.serialize_element(&Block(block))?,
                    None => list.serialize_element(&block)?,
                }
            }
            return list.end();
        }
        if node.kind() != Kind::Object || depth == LIST {
            return node.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in node.members() {
            match key.as_ref() {
                "content" => map.serialize_entry(&key, &Without(value, LIST))?,
                "data" => map.serialize_entry(&key, &Without(value, 0))?,
                _ => map.serialize_entry(&key, &value)?,
            }
        }
        map.end()
    }
}

/// A block without its `data`.
struct Block<'a>(Node<'a>);

impl Serialize for Block<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.0.members().filter(|(key, _)| key != "data") {
            map.serialize_entry(&key, &value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
