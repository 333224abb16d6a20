//! A shop that pays and refunds through an executor, at a bank that knows no idempotency keys; and its bugs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use windtunnel_core::executor::{Executor, ToolCall};
use windtunnel_core::tool::{Registry, ToolSpec};
use windtunnel_proptests::Violation;
use windtunnel_proptests::worlds::{StateMachine, Step};
use windtunnel_sim::fault::FaultKind;
use windtunnel_sim::script::{Invocations, ScriptedTool};
use windtunnel_sim::{RandomFaults, WorldHandle};

const PAID_ONCE: &str = "an order is paid once";
const NOT_PAID: &str = "a cancelled order is not paid";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// It does all that it should.
    None,
    /// It pays again if it does not hear of the first payment.
    PaysAgain,
    /// It gives nothing back for a payment that it did not hear of.
    ForgetsLostPayments,
}

#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) bug: Bug,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShopOperation {
    Pay { order: u8, amount: u32 },
    Cancel { order: u8 },
}

pub(crate) struct Till {
    executor: Executor,
    invocations: Invocations,
    /// The orders of whose payment it has heard.
    paid: BTreeSet<u8>,
}

impl Till {
    async fn call(&self, tool: &str, arguments: Value) -> bool {
        self.executor.run_call(ToolCall::new(tool, arguments)).await.is_ok_and(|result| result.error().is_none())
    }

    /// How often a tool did its work for an order.
    fn count(&self, tool: &str, order: u8) -> usize {
        let is_it = |arguments: &Value| arguments["order"] == json!(order);
        let calls = self.invocations.to_vec().into_iter();
        calls.filter(|call| &*call.tool == tool && is_it(&call.arguments)).count()
    }
}

impl Shop {
    fn retries(&self) -> u32 {
        u32::from(self.bug == Bug::PaysAgain)
    }
}

impl StateMachine for Shop {
    type Operation = ShopOperation;
    type System = Till;
    /// The orders that it was told to pay, and whether each was cancelled.
    type Model = BTreeMap<u8, bool>;

    fn operations(&self) -> BoxedStrategy<ShopOperation> {
        let order = 0_u8..10;
        prop_oneof![
            2 => (order.clone(), 1_u32..1000).prop_map(|(order, amount)| ShopOperation::Pay { order, amount }),
            1 => order.prop_map(|order| ShopOperation::Cancel { order }),
        ]
        .boxed()
    }

    fn faults(&self) -> RandomFaults {
        let kinds =
            [FaultKind::ToolError, FaultKind::ToolDelay, FaultKind::ToolHang, FaultKind::ToolLoseAcknowledgment];
        RandomFaults::of(kinds).rate(0.1)
    }

    fn model(&self) -> BTreeMap<u8, bool> {
        BTreeMap::new()
    }

    async fn set_up(&self, world: &WorldHandle) -> Till {
        let invocations = Invocations::default();
        let mut registry = Registry::new();
        for (name, retries) in [("pay", self.retries()), ("refund", 0)] {
            let spec = ToolSpec::new(name, "Moves money.", json!({"type": "object"}));
            let spec = ToolSpec { retries, timeout: Some(Duration::from_secs(5)), ..spec };
            let tool = ScriptedTool::new(spec, []).log_to(invocations.clone());
            registry.register(world.faults().tool(tool)).unwrap();
        }
        let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
        Till { executor, invocations, paid: BTreeSet::new() }
    }

    fn is_possible(&self, orders: &BTreeMap<u8, bool>, operation: &ShopOperation) -> bool {
        match operation {
            ShopOperation::Pay { order, .. } => !orders.contains_key(order),
            ShopOperation::Cancel { order } => orders.get(order) == Some(&false),
        }
    }

    async fn apply(
        &self,
        till: &mut Till,
        orders: &mut BTreeMap<u8, bool>,
        operation: &ShopOperation,
    ) -> Result<(), Violation> {
        match operation {
            ShopOperation::Pay { order, amount } => {
                orders.insert(*order, false);
                if till.call("pay", json!({"order": order, "amount": amount})).await {
                    till.paid.insert(*order);
                }
            }
            ShopOperation::Cancel { order } => {
                orders.insert(*order, true);
                let may_be_paid = self.bug != Bug::ForgetsLostPayments || till.paid.contains(order);
                while may_be_paid && !till.call("refund", json!({"order": order})).await {}
            }
        }
        Ok(())
    }

    fn check(&self, till: &Till, orders: &BTreeMap<u8, bool>) -> Result<(), Violation> {
        for (order, is_cancelled) in orders {
            let paid = till.count("pay", *order);
            if paid > 1 {
                return Err(Violation::new(PAID_ONCE, format!("order {order} was paid {paid} times")));
            }
            if *is_cancelled && paid > 0 && till.count("refund", *order) == 0 {
                return Err(Violation::new(NOT_PAID, format!("nothing was given back for order {order}")));
            }
        }
        Ok(())
    }

    fn case_file(&self, steps: &[Step<ShopOperation>]) -> Option<Value> {
        let mut wait_ms = 0;
        let mut calls = Vec::new();
        for step in steps {
            match step {
                Step::Wait(duration) => wait_ms += duration.as_millis() as u64,
                Step::Do(ShopOperation::Pay { order, amount }) => {
                    let arguments = json!({"order": order, "amount": amount});
                    calls.push(json!({"name": "pay", "arguments": arguments, "wait_ms": std::mem::take(&mut wait_ms)}));
                }
                // What the shop does then is its own code.
                Step::Do(ShopOperation::Cancel { .. }) => return None,
            }
        }
        let once = "invocations.all(i, invocations.filter(o, o.arguments.order == i.arguments.order).size() <= 1)";
        let parameters = json!({"order": "integer", "amount": "integer"});
        Some(json!({
            "id": "the-shop-pays",
            "tools": [{"name": "pay", "parameters": parameters, "retries": self.retries(), "timeout_s": 5}],
            "calls": calls,
            "always": [{"name": PAID_ONCE, "that": once}],
        }))
    }

    fn as_rust(&self) -> String {
        format!("Shop {{ bug: Bug::{:?} }}", self.bug)
    }
}
