//! The words of the protocol, the same for clients and servers.

mod edit;
mod error;
mod header;
mod message;
mod meta;
mod mirror;
mod version;

pub use self::edit::Edit;
pub use self::error::{RpcError, code};
pub(crate) use self::header::{decoded, encoded};
pub use self::message::{Message, Notification, Request, RequestId, Response, WireError};
pub use self::meta::{follows_tasks, is_reserved, key, without_reserved};
pub(crate) use self::mirror::integer;
pub use self::mirror::{InvalidMirror, Mirrors};
pub use self::version::{Era, Version};
