//! Clients in Rust, as their users call them: plays scenes, and prints what was seen as JSON, a line a scene.
//! `clients async-openai|rig [SCENE…]`.

mod observation;
mod openai;
mod rig;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let client = arguments.next();
    let wanted: Vec<String> = arguments.collect();
    match client.as_deref() {
        Some("async-openai") => openai::play(&wanted).await,
        Some("rig") => rig::play(&wanted).await,
        _ => panic!("say which client: async-openai or rig"),
    }
}
