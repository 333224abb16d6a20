//! A refund agent on five hosts of a simulated world, with a fault at the worst moment: the bank has paid, and its answer is
//! lost. The naive agent pays twice, the durable one does not.
//!
//! ```sh
//! cargo run --example refund
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

#[path = "refund/scenario.rs"]
mod scenario;

use scenario::{Variant, refund};
use windtunnel::BoxError;
use windtunnel::sim::World;
use windtunnel::sim::fault::FaultPlan;

fn main() -> Result<(), BoxError> {
    let plan = FaultPlan::from_json(
        r#"[{"when": {"event": "tool.body", "tool": "pay"}, "do": {"fault": "tool.lose_acknowledgment"}}]"#,
    )?;
    for variant in [Variant::Correct, Variant::Naive] {
        for (weather, plan) in [("calm", FaultPlan::default()), ("with the answer of the bank lost", plan.clone())] {
            let run = World::new(7).faults(plan).run(|world| refund(world, variant));
            let came_to = match run.outcome {
                Ok(refund) => {
                    let refund = refund?;
                    format!("{:?} after {} payment", refund.answer, refund.payments)
                }
                Err(error) => error.to_string(),
            };
            println!("{variant:?}, {weather}: {came_to} ({} events, {:?})", run.trace.len(), run.elapsed);
        }
    }
    Ok(())
}
