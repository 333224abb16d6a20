//! Programs, what their tools do, and what they may use.

mod behaviour;
mod builder1;
mod builder2;
mod invalid;
mod lambdas;
mod limits;
mod sketch;
mod whole;

pub use behaviour::{failing_tools, slow_tools, yielding_tools};
pub use invalid::{json_values, mutated_programs, mutations};
pub use limits::{program_limits, program_policies, retry_policies};
pub use whole::{
    lambda_programs, program_cases, programs, programs_of_version_1, programs_of_version_2, sequential_program_cases,
};
