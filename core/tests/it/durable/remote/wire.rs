//! The protocol by hand, from its documentation alone; and a server that follows a script.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use futures_util::future::{Either, select};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use windtunnel_core::durable::remote::{RemoteStore, ServeError, serve};
use windtunnel_core::durable::{JournalStore, StoreError};

use crate::durable::stage::env;

fn checksum(bytes: &[u8]) -> u32 {
    let mut rest = u32::MAX;
    for byte in bytes {
        rest ^= u32::from(*byte);
        for _ in 0..8 {
            rest = (rest >> 1) ^ (0xEDB8_8320 * (rest & 1));
        }
    }
    !rest
}

/// A frame around anything.
pub(crate) fn frame(text: impl AsRef<[u8]>) -> Vec<u8> {
    let length = u32::try_from(text.as_ref().len()).unwrap().to_be_bytes();
    let summed = [&length, text.as_ref()].concat();
    [&length[..], &checksum(&summed).to_be_bytes(), text.as_ref()].concat()
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Vec<u8> {
    frame(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
}

pub(crate) fn response(id: &Value, result: &Value) -> Vec<u8> {
    frame(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

pub(crate) fn hello() -> Vec<u8> {
    request(0, "hello", json!({"version": 1}))
}

/// The texts of the frames, which must be whole.
pub(crate) fn texts(mut bytes: &[u8]) -> Vec<String> {
    let mut texts = Vec::new();
    while !bytes.is_empty() {
        let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        let (whole, rest) = bytes.split_at(8 + length);
        assert_eq!(frame(&whole[8..]), whole);
        texts.push(String::from_utf8(whole[8..].to_vec()).unwrap());
        bytes = rest;
    }
    texts
}

/// What a server says to these bytes and the end after them, and how it ends.
pub(crate) async fn told(store: impl JournalStore + 'static, bytes: &[u8]) -> (Vec<String>, Result<(), ServeError>) {
    let (mut near, far) = tokio::io::duplex(1 << 20);
    let client = async {
        // The server may end before it has read all.
        let _written = near.write_all(bytes).await;
        let _shut = near.shutdown().await;
        let mut answers = Vec::new();
        near.read_to_end(&mut answers).await.unwrap();
        answers
    };
    let (answers, end) = futures_util::future::join(client, serve(Arc::new(store), far)).await;
    (texts(&answers), end)
}

/// A client of a server that answers each frame with what the script says, until that is nothing: then it closes.
pub(crate) async fn scripted<T, F: Future<Output = T>>(
    client: impl FnOnce(RemoteStore) -> F,
    mut script: impl FnMut(Value) -> Option<Vec<u8>>,
) -> T {
    let ends: Arc<Mutex<VecDeque<DuplexStream>>> = Arc::default();
    let (far_ends, waker) = (Arc::clone(&ends), Arc::new(Mutex::new(None::<std::task::Waker>)));
    let woken = Arc::clone(&waker);
    let remote = RemoteStore::new(env(), move || {
        let (near, far) = tokio::io::duplex(1 << 16);
        far_ends.lock().push_back(far);
        if let Some(waker) = woken.lock().take() {
            waker.wake();
        }
        std::future::ready(Ok::<_, io::Error>(near))
    });
    let server = async {
        loop {
            let accept = std::future::poll_fn(|context| {
                *waker.lock() = Some(context.waker().clone());
                ends.lock().pop_front().map_or(std::task::Poll::Pending, std::task::Poll::Ready)
            });
            let _ended = answer(accept.await, &mut script).await;
        }
    };
    match select(Box::pin(client(remote)), Box::pin(server)).await {
        Either::Left((output, _)) => output,
        Either::Right((never, _)) => never,
    }
}

async fn answer(mut stream: DuplexStream, script: &mut impl FnMut(Value) -> Option<Vec<u8>>) -> io::Result<()> {
    loop {
        let length = stream.read_u32().await?;
        let _checksum = stream.read_u32().await?;
        let mut text = vec![0; length as usize];
        stream.read_exact(&mut text).await?;
        let Some(bytes) = script(serde_json::from_slice(&text)?) else { return Ok(()) };
        stream.write_all(&bytes).await?;
    }
}

/// What a client says of a failure.
pub(crate) fn source(error: &StoreError) -> String {
    std::error::Error::source(error).unwrap().to_string()
}
