//! Threads that wait awake for a moment, and then asleep, for a few pieces of work at a time.
//!
//! A tick of a large model takes some ten microseconds; waking a sleeping thread takes as long. So helpers look for work in a
//! loop for a while before they sleep. Pieces are taken by whoever comes first, the caller among them: a helper that is late
//! costs nothing but what it would have done.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Most pieces of one round: they are counted in 12 bits.
pub const PIECES_MAX: usize = (1 << BITS) - 1;
const BITS: u32 = 12;
const MASK: u64 = (1 << BITS) - 1;
/// Looks of a helper before it sleeps: some hundred microseconds.
const LOOKS_AWAKE: u32 = 20_000;
/// Looks between offers to let others run: there may be fewer cores than threads.
const LOOKS_PER_OFFER: u32 = 128;

/// Helpers beside the calling thread. They end when it is dropped.
pub struct Pool {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
    round: u64,
}

/// A piece of work by its number.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

struct Shared {
    /// The number of the round, how many pieces it has, and the next that nobody has taken.
    ticket: AtomicU64,
    /// Pieces of this round that are done.
    done: AtomicU32,
    /// A piece has panicked.
    broken: AtomicBool,
    /// What a piece is. Written by the caller between rounds, read by who has taken a piece.
    work: UnsafeCell<*const Work<'static>>,
    stop: AtomicBool,
    asleep: AtomicU32,
    bed: Mutex<()>,
    bell: Condvar,
}

// SAFETY: `work` is written only while no piece of a round is open, and read only by threads that hold one; both see each
// other through `ticket` and `done`. What it points to is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointer is only followed while `Pool::run` waits.
unsafe impl Send for Shared {}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("helpers", &self.helpers.len()).finish()
    }
}

impl Pool {
    /// A pool with so many helpers; fewer if the system does not give them.
    pub fn new(helpers: usize) -> Self {
        const NOTHING: &Work<'static> = &|_| ();
        let shared = Arc::new(Shared {
            ticket: AtomicU64::new(0),
            done: AtomicU32::new(0),
            broken: AtomicBool::new(false),
            work: UnsafeCell::new(std::ptr::from_ref(NOTHING)),
            stop: AtomicBool::new(false),
            asleep: AtomicU32::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        });
        let helper = |_| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name("branch".to_owned()).spawn(move || shared.help()).ok()
        };
        Self { helpers: (0..helpers).map_while(helper).collect(), shared, round: 0 }
    }

    /// Threads, the caller among them.
    pub fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Does all pieces, each once, and returns when they are done.
    ///
    /// # Panics
    /// If a piece panics, after all others are done; or if there are more than [`PIECES_MAX`].
    pub fn run(&mut self, pieces: usize, work: &Work<'_>) {
        assert!(pieces <= PIECES_MAX, "{pieces} pieces are more than {PIECES_MAX}");
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes. Nobody follows the pointer after this function: it returns when every piece
        // is done, and without a piece nobody reads it.
        let work = unsafe { std::mem::transmute::<*const Work<'_>, *const Work<'static>>(std::ptr::from_ref(work)) };
        // SAFETY: all pieces of the last round are done, so nobody reads.
        unsafe { *shared.work.get() = work };
        shared.done.store(0, Ordering::Relaxed);
        self.round += 1;
        shared.ticket.store(self.round << (2 * BITS) | (pieces as u64) << BITS, Ordering::SeqCst);
        if shared.asleep.load(Ordering::SeqCst) > 0 {
            // Under the lock: who has looked for work and is about to sleep must hear the bell.
            let _bed = shared.bed.lock().unwrap_or_else(PoisonError::into_inner);
            shared.bell.notify_all();
        }
        while shared.take_one() {}
        let mut looks = 0_u32;
        while shared.done.load(Ordering::Acquire) < pieces as u32 {
            wait_awake(&mut looks);
        }
        assert!(!shared.broken.load(Ordering::Relaxed), "a piece of work has panicked");
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        {
            let _bed = self.shared.bed.lock().unwrap_or_else(PoisonError::into_inner);
            self.shared.bell.notify_all();
        }
        for helper in self.helpers.drain(..) {
            // Pieces that panic are caught, so a helper ends in order.
            let _ = helper.join();
        }
    }
}

fn wait_awake(looks: &mut u32) {
    *looks = looks.wrapping_add(1);
    if looks.is_multiple_of(LOOKS_PER_OFFER) { std::thread::yield_now() } else { std::hint::spin_loop() }
}

/// Whether a round has a piece that nobody has taken.
fn is_open(ticket: u64) -> bool {
    ticket & MASK < ticket >> BITS & MASK
}

impl Shared {
    /// Takes a piece and does it, if there is one.
    fn take_one(&self) -> bool {
        let mut ticket = self.ticket.load(Ordering::SeqCst);
        loop {
            if !is_open(ticket) {
                return false;
            }
            // The number of the round is a part of the ticket: a piece of a round that is over cannot be taken.
            match self.ticket.compare_exchange_weak(ticket, ticket + 1, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => break,
                Err(now) => ticket = now,
            }
        }
        // SAFETY: we hold a piece, so the caller waits in `run`, has written the pointer before the ticket, and will write it
        // again only when this piece is done; until then what it points to lives.
        let work = unsafe { &**self.work.get() };
        let piece = (ticket & MASK) as usize;
        if catch_unwind(AssertUnwindSafe(|| work(piece))).is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
        self.done.fetch_add(1, Ordering::Release);
        true
    }

    /// What a helper does all its life.
    fn help(&self) {
        let mut looks = 0_u32;
        while !self.stop.load(Ordering::Relaxed) {
            if self.take_one() {
                looks = 0;
            } else if looks < LOOKS_AWAKE {
                wait_awake(&mut looks);
            } else {
                self.sleep();
                looks = 0;
            }
        }
    }

    fn sleep(&self) {
        let bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let idle = |&mut (): &mut ()| !is_open(self.ticket.load(Ordering::SeqCst)) && !self.stop.load(Ordering::SeqCst);
        drop(self.bell.wait_while(bed, idle));
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once_in_every_round_with_any_number_of_helpers() {
        for helpers in [0, 1, 3, 7] {
            let mut pool = Pool::new(helpers);
            for round in 0..2_000_usize {
                let pieces = round % 9;
                let counts: Vec<AtomicU32> = (0..pieces).map(|_| AtomicU32::new(0)).collect();
                pool.run(pieces, &|piece| {
                    counts[piece].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1), "round {round}: {counts:?}");
            }
        }
    }

    #[test]
    fn helpers_that_sleep_are_woken() {
        let mut pool = Pool::new(1);
        while pool.shared.asleep.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        // Both pieces wait for each other, so the caller alone could not do them.
        let here = AtomicU32::new(0);
        pool.run(2, &|_| {
            here.fetch_add(1, Ordering::SeqCst);
            while here.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
        });
    }

    #[test]
    fn a_piece_that_panics_is_told_after_all_others_are_done() {
        let mut pool = Pool::new(1);
        let done = AtomicU32::new(0);
        let told = catch_unwind(AssertUnwindSafe(|| {
            pool.run(5, &|piece| {
                assert!(piece != 2, "piece two");
                done.fetch_add(1, Ordering::Relaxed);
            });
        }));
        assert!(told.is_err());
        assert_eq!(done.into_inner(), 4);
    }
}
