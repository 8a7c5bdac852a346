//! A rule's conditions with what is known before any call put in: the permission, whether somebody approved it, and that the
//! answer acts. What is left of the context is the call's own.

use lockgate_contract::effect::Permission;
use serde_json::{Value, json};

use super::reads::context_path;

/// What is supposed of every call of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Supposed {
    pub(super) permission: Permission,
    pub(super) approved: bool,
}

impl Supposed {
    /// Puts it into conditions. `of_any_approval` are those that hold for every approval which a decision supposes: without one
    /// nobody gets to them, since a rule asks first whether there is one.
    pub(super) fn put_into(self, conditions: &mut Value, of_any_approval: &[Value]) {
        if of_any_approval.contains(conditions) {
            *conditions = json!({ "Value": self.approved });
        } else if let Some(known) = self.known(conditions) {
            *conditions = json!({ "Value": known });
        } else {
            match conditions {
                Value::Array(elements) => {
                    for element in elements {
                        self.put_into(element, of_any_approval);
                    }
                }
                // A literal reads nothing.
                Value::Object(members) if members.len() == 1 && members.contains_key("Value") => {}
                Value::Object(members) if members.len() == 1 && members.contains_key("Record") => {
                    // Its names are anybody's, and no operators.
                    let record = members.values_mut().filter_map(Value::as_object_mut).flat_map(|it| it.values_mut());
                    record.for_each(|member| self.put_into(member, of_any_approval));
                }
                Value::Object(members) => {
                    members.values_mut().for_each(|member| self.put_into(member, of_any_approval));
                }
                _ => {}
            }
        }
    }

    /// What an expression comes to that reads one of these.
    fn known(self, expression: &Value) -> Option<Value> {
        let path = context_path(expression)?;
        let asks_whether_it_is_there = expression.get("has").is_some();
        match (path.as_slice(), asks_whether_it_is_there) {
            (["approval"], true) => Some(self.approved.into()),
            (["permission" | "shadow"], true) => Some(true.into()),
            (["permission"], false) => Some(self.permission.word().into()),
            (["shadow"], false) => Some(false.into()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
