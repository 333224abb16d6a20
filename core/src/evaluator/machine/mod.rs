//! The interpreter as a pure machine: it takes what tools answered and says what to ask next. It knows no future, no
//! clock and no provider, and its stack is a tree of frames on the heap (V9).

mod branches;
mod calls;
mod failure;
mod frame;
mod frames;
mod interpreter;
mod items;
mod memo;
mod places;
mod scope;
mod turns;

pub(super) use frame::FrameId;
pub(super) use interpreter::{Input, Machine, Order, Progress, Request};
