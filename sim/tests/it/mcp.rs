//! Tools as servers of the Model Context Protocol, spoken by rmcp over the simulated network.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{Executor, RunError};
use windtunnel_core::tool::{FunctionTool, Registry, ToolError};
use windtunnel_sim::{Process, World, WorldHandle};

// ANCHOR: server
/// How often each payment was made, by its idempotency key.
type Paid = Arc<Mutex<BTreeMap<String, u32>>>;

#[derive(Clone)]
struct Bank {
    env: Env,
    paid: Paid,
}

impl ServerHandler for Bank {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let key = request.arguments.and_then(|arguments| arguments.get("key")?.as_str().map(str::to_owned));
        self.env.sleep(Duration::from_millis(50)).await;
        *self.paid.lock().entry(key.unwrap_or_default()).or_default() += 1;
        self.env.sleep(Duration::from_millis(50)).await;
        Ok(CallToolResult::structured(json!({"receipt": request.name})).into())
    }
}

async fn serve_bank(process: Process, paid: Paid) {
    let Ok(listener) = process.listen(7000).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let bank = Bank { env: process.env(), paid: Arc::clone(&paid) };
        let _running = process.spawn(async move {
            if let Ok(running) = bank.serve(stream).await {
                let _ended = running.waiting().await;
            }
        });
    }
}
// ANCHOR_END: server

// ANCHOR: client
/// One call over a connection of its own.
async fn call(process: &Process, key: &str) -> Result<Value, BoxError> {
    let stream = process.connect("bank", 7000).await?;
    let client = ().serve(stream).await?;
    let arguments = json!({"key": key}).as_object().cloned().unwrap_or_default();
    let result = client.call_tool(CallToolRequestParams::new("pay").with_arguments(arguments)).await?;
    result.structured_content.ok_or_else(|| "no receipt".into())
}

/// An executor whose tool is behind the protocol.
fn executor(process: &Process) -> Executor {
    let mut registry = Registry::new();
    let calling = process.clone();
    let pay = FunctionTool::json("pay", "Pays.", json!({"type": "object"}), move |_arguments, context| {
        let process = calling.clone();
        async move { call(&process, context.call_id()).await.map_err(|error| ToolError::retryable(error.to_string())) }
    });
    registry.register(pay.retries(3).timeout(Duration::from_secs(2))).unwrap();
    Executor::builder(registry).env(process.env()).sink(process.trace()).build()
}
// ANCHOR_END: client

// ANCHOR: scene
async fn scene(world: &WorldHandle) -> (Executor, Paid) {
    let paid = Paid::default();
    let kept = Arc::clone(&paid);
    world.host("bank").unwrap().start(move |process| serve_bank(process, Arc::clone(&kept)));
    let agent = world.host("agent").unwrap().process();
    agent.env().sleep(Duration::from_millis(1)).await;
    (executor(&agent), paid)
}
// ANCHOR_END: scene

#[test]
fn a_tool_is_called_over_the_protocol() {
    let run = World::new(7).run(|world| async move {
        let (executor, paid) = scene(&world).await;
        let receipt = executor.run("pay", json!({})).await.unwrap();
        let paid = paid.lock().values().copied().collect::<Vec<_>>();
        (receipt, paid)
    });
    assert_eq!(run.outcome.unwrap(), (json!({"receipt": "pay"}), vec![1]));
}

// ANCHOR: crash
#[test]
fn a_bank_that_crashes_after_it_paid_is_asked_again_under_the_same_key() {
    let mut twice = 0;
    for seed in 0..40 {
        let run = World::new(seed).run(|world| async move {
            let (executor, paid) = scene(&world).await;
            let (bank, env) = (world.host("bank").unwrap(), world.env());
            let _trouble = world.host("trouble").unwrap().spawn(async move {
                env.sleep(Duration::from_millis(env.random_u64("test/when") % 150)).await;
                bank.crash();
                env.sleep(Duration::from_millis(400)).await;
                bank.restart();
            });
            let receipt = executor.run("pay", json!({})).await;
            let paid = paid.lock().values().copied().collect::<Vec<_>>();
            (receipt.map_err(|error: RunError| error.to_string()), paid)
        });
        let (receipt, paid) = run.outcome.unwrap();
        assert_eq!(receipt.unwrap(), json!({"receipt": "pay"}), "seed {seed}");
        assert_eq!(paid.len(), 1, "seed {seed}: one key");
        twice += paid[0] - 1;
    }
    assert!(twice > 0, "no crash came between the payment and its answer");
}
// ANCHOR_END: crash

#[test]
fn the_same_seed_is_the_same_trace() {
    for seed in 0..5 {
        let scenario = |world: WorldHandle| async move {
            let (executor, _) = scene(&world).await;
            executor.run("pay", json!({})).await.unwrap()
        };
        let run = World::new(seed).check_determinism(scenario).unwrap();
        assert_eq!(run.outcome.unwrap(), json!({"receipt": "pay"}));
    }
}
