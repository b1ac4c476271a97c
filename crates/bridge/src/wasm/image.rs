//! What is kept of a module between two segments: its globals, and the pages that differ from a fresh memory.

use std::sync::Arc;

use anabranch_kernel::{Digest, DigestWriter};
use wasmtime::Val;

/// Pages are those of the processor.
pub(super) const PAGE_BYTES: usize = 4096;
/// What a page that was never there holds.
static ZEROS: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

/// A page that differs from the fresh one. States that have it in common share it.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) bytes: [u8; PAGE_BYTES],
    digest: Digest,
}

impl Page {
    fn new(bytes: &[u8; PAGE_BYTES]) -> Arc<Self> {
        Arc::new(Self { bytes: *bytes, digest: Digest::of(bytes) })
    }
}

/// A saved state.
#[derive(Debug)]
pub(super) struct Image {
    /// Size of the whole memory, shared pages and fresh ones included.
    pub(super) memory_bytes: usize,
    /// By number, ascending.
    pub(super) pages: Vec<(u32, Arc<Page>)>,
    pub(super) globals: Vec<Val>,
    /// Of everything above: equal digest, equal future.
    pub(super) digest: Digest,
}

impl Image {
    fn new(memory_bytes: usize, pages: Vec<(u32, Arc<Page>)>, globals: Vec<Val>) -> Self {
        let mut digest = DigestWriter::new();
        digest.number(memory_bytes as u64);
        for (number, page) in &pages {
            digest.number(u64::from(*number));
            digest.wide(page.digest.0);
        }
        // Pages and globals cannot be confused: no page has this number.
        digest.number(u64::MAX);
        for global in &globals {
            digest.wide(bits(global));
        }
        Self { memory_bytes, pages, globals, digest: digest.finish() }
    }
}

/// A global by its bits; its type never changes.
fn bits(global: &Val) -> u128 {
    match global {
        Val::I32(value) => u128::from(value.cast_unsigned()),
        Val::I64(value) => u128::from(value.cast_unsigned()),
        Val::F32(value) => u128::from(*value),
        Val::F64(value) => u128::from(*value),
        Val::V128(value) => value.as_u128(),
        _ => unreachable!("modules with references in globals are refused"),
    }
}

/// A fresh memory, with which all others are compared.
#[derive(Debug)]
pub(super) struct Base {
    bytes: Vec<u8>,
    /// The fresh state itself: no page differs.
    pub(super) image: Arc<Image>,
}

impl Base {
    pub(super) fn new(memory: &[u8], globals: Vec<Val>) -> Self {
        Self { bytes: memory.to_vec(), image: Arc::new(Image::new(memory.len(), Vec::new(), globals)) }
    }
    /// A fresh page; where memory has grown, zeros.
    pub(super) fn page(&self, number: u32) -> &[u8; PAGE_BYTES] {
        self.bytes.as_chunks::<PAGE_BYTES>().0.get(number as usize).unwrap_or(&ZEROS)
    }
    /// Saves a memory. Only pages that are listed as touched are looked at; those that are equal to the ones of `parent`
    /// are shared with it.
    pub(super) fn save(&self, memory: &[u8], touched: &[u32], globals: Vec<Val>, parent: &Image) -> Image {
        let (all, _) = memory.as_chunks::<PAGE_BYTES>();
        let mut known = parent.pages.iter().peekable();
        let mut pages = Vec::with_capacity(touched.len());
        for &number in touched {
            let bytes = &all[number as usize];
            while known.next_if(|(other, _)| *other < number).is_some() {}
            let same = known.next_if(|(other, _)| *other == number).filter(|(_, page)| page.bytes == *bytes);
            if let Some((_, page)) = same {
                pages.push((number, Arc::clone(page)));
            } else if bytes != self.page(number) {
                pages.push((number, Page::new(bytes)));
            }
        }
        Image::new(memory.len(), pages, globals)
    }
}

/// Turns a memory that holds `held` into one that holds `wanted`; `write` is called for each page that may differ.
pub(super) fn differences(held: &Image, wanted: &Image, base: &Base, mut write: impl FnMut(u32, &[u8; PAGE_BYTES])) {
    let (mut old, mut new) = (held.pages.iter().peekable(), wanted.pages.iter().peekable());
    loop {
        match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some((number, _)), None) => {
                write(*number, base.page(*number));
                old.next();
            }
            (Some((number, _)), Some((other, _))) if number < other => {
                write(*number, base.page(*number));
                old.next();
            }
            (Some((number, page)), Some((other, wanted))) if number == other => {
                if !Arc::ptr_eq(page, wanted) {
                    write(*other, &wanted.bytes);
                }
                old.next();
                new.next();
            }
            (_, Some((number, page))) => {
                write(*number, &page.bytes);
                new.next();
            }
        }
    }
}
