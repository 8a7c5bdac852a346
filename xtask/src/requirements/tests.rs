mod reading;
mod tracing;
