//! Several values in one input: records that end at byte 30, of fields that end at byte 31, as ASCII meant them.

/// The fields of each record.
pub(crate) fn split(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    bytes.split(|byte| *byte == 30).map(|record| record.split(|byte| *byte == 31).collect()).collect()
}

/// The input of these records.
pub(crate) fn join(records: &[Vec<String>]) -> Vec<u8> {
    let records: Vec<String> = records.iter().map(|fields| fields.join("\u{1f}")).collect();
    records.join("\u{1e}").into_bytes()
}
