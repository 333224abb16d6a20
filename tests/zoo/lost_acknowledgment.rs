//! A payment through an executor that tries again. The first attempt may have paid, though no answer came.

use std::time::Duration;

use serde_json::json;
use windtunnel::BoxError;
use windtunnel::executor::{Executor, ToolCall};
use windtunnel::sim::WorldHandle;
use windtunnel::tool::{FunctionTool, Registry};

use super::{Animal, Breaks, Twin};

const RULE: &str = "paid at most once";

pub(crate) const LOST_ACKNOWLEDGMENT: Animal = Animal {
    name: "lost acknowledgment",
    after: "crewAI#5802",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let effects = world.effects();
    let pay = FunctionTool::json("pay", "Pays an invoice.", json!({"type": "object"}), move |arguments, _| {
        let (effects, invoice) = (effects.clone(), arguments["invoice"].to_string());
        async move {
            match twin {
                Twin::Faulty => effects.happen("payment", None).await,
                // The bank knows an invoice again.
                Twin::Correct => drop(effects.happen_once("payment", &invoice).await),
            }
            Ok::<_, BoxError>(json!("paid"))
        }
    });
    let mut registry = Registry::new();
    registry.register(world.faults().tool(pay.retries(2).timeout(Duration::from_secs(20)))).unwrap();
    let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
    let _answer = executor.run_call(ToolCall::new("pay", json!({"invoice": 17}))).await.unwrap();
    world.assertions().always(RULE, world.effects().count("payment") <= 1);
}
