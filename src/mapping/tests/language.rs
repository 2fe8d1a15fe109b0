//! The mapping language step by step.
