//! The store: every experiment and every attempt, durable before the next run begins.
