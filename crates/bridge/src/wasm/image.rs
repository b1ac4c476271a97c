//! What is kept of a module between two segments: its globals, and the pages that differ from a fresh memory.

use std::sync::Arc;

use anabranch_kernel::Digest;
use wasmtime::Val;

/// Bytes of a page: few enough that a small change is a small copy, many enough that lists of pages stay short.
pub(super) const PAGE_BYTES: usize = 1 << PAGE_BYTES_LOG2;
/// The same as a power of two.
pub(super) const PAGE_BYTES_LOG2: u32 = 12;
/// Pages whose list is shared as a whole.
const CHUNK_PAGES: usize = 64;
/// What a page that was never there holds.
static ZEROS: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

/// A page that differs from the fresh one. States that have it in common share it.
#[derive(Debug)]
struct Page {
    bytes: [u8; PAGE_BYTES],
    /// Of its number and its bytes.
    digest: u128,
}

impl Page {
    fn new(number: u32, bytes: &[u8; PAGE_BYTES]) -> Arc<Self> {
        let mut content = [0; 20];
        content[..16].copy_from_slice(&Digest::of(bytes).0.to_le_bytes());
        content[16..].copy_from_slice(&number.to_le_bytes());
        Arc::new(Self { bytes: *bytes, digest: Digest::of(&content).0 })
    }
}

/// Neighbouring pages; `None` is a fresh one.
type Chunk = [Option<Arc<Page>>; CHUNK_PAGES];

/// A saved state.
#[derive(Debug)]
pub(super) struct Image {
    /// Size of the whole memory, fresh pages included.
    pub(super) memory_bytes: usize,
    pub(super) globals: Vec<Val>,
    chunks: Vec<Option<Arc<Chunk>>>,
    /// Sum of the digests of all pages: it does not depend on the order, so a change costs what has changed.
    pages_digest: u128,
}

impl Image {
    /// Of everything it holds: equal digest, equal future.
    pub(super) fn digest(&self) -> Digest {
        let mut content = Vec::with_capacity(16 * (2 + self.globals.len()));
        content.extend_from_slice(&(self.memory_bytes as u128).to_le_bytes());
        content.extend_from_slice(&self.pages_digest.to_le_bytes());
        for global in &self.globals {
            content.extend_from_slice(&bits(global).to_le_bytes());
        }
        Digest::of(&content)
    }
    /// The addresses of the pages it holds, to count shared ones once.
    pub(super) fn pages(&self) -> impl Iterator<Item = usize> {
        let chunks = self.chunks.iter().flatten();
        chunks.flat_map(|chunk| chunk.iter().flatten().map(|page| Arc::as_ptr(page) as usize))
    }
    fn page(&self, number: u32) -> Option<&Arc<Page>> {
        let number = number as usize;
        self.chunks.get(number / CHUNK_PAGES)?.as_ref()?[number % CHUNK_PAGES].as_ref()
    }
    fn set(&mut self, number: u32, page: Option<Arc<Page>>) {
        let number = number as usize;
        let index = number / CHUNK_PAGES;
        if index >= self.chunks.len() {
            self.chunks.resize(index + 1, None);
        }
        let chunk = self.chunks[index].get_or_insert_with(|| Arc::new([const { None }; CHUNK_PAGES]));
        Arc::make_mut(chunk)[number % CHUNK_PAGES] = page;
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
        let image = Image { memory_bytes: memory.len(), globals, chunks: Vec::new(), pages_digest: 0 };
        Self { bytes: memory.to_vec(), image: Arc::new(image) }
    }
    /// Saves a memory that was `parent` before these pages were written. What has not changed is shared with it.
    pub(super) fn save(&self, memory: &[u8], written: &[u32], globals: Vec<Val>, parent: &Image) -> Image {
        let (chunks, pages_digest) = (parent.chunks.clone(), parent.pages_digest);
        let mut image = Image { memory_bytes: memory.len(), globals, chunks, pages_digest };
        let (all, _) = memory.as_chunks::<PAGE_BYTES>();
        for &number in written {
            let (bytes, old) = (&all[number as usize], parent.page(number));
            let before = old.map_or_else(|| self.page(number), |page| &page.bytes);
            if bytes == before {
                continue;
            }
            let new = (bytes != self.page(number)).then(|| Page::new(number, bytes));
            let digest = |page: Option<&Arc<Page>>| page.map_or(0, |page| page.digest);
            image.pages_digest = image.pages_digest.wrapping_sub(digest(old)).wrapping_add(digest(new.as_ref()));
            image.set(number, new);
        }
        image
    }
    /// A fresh page; where memory has grown, zeros.
    fn page(&self, number: u32) -> &[u8; PAGE_BYTES] {
        self.bytes.as_chunks::<PAGE_BYTES>().0.get(number as usize).unwrap_or(&ZEROS)
    }
    /// Turns a memory that was `held` before these pages were written into `wanted`.
    pub(super) fn load(&self, memory: &mut [u8], written: &[u32], held: &Image, wanted: &Image) {
        let (all, _) = memory.as_chunks_mut::<PAGE_BYTES>();
        for &number in written {
            all[number as usize] = *wanted.page(number).map_or_else(|| self.page(number), |page| &page.bytes);
        }
        for index in 0..held.chunks.len().max(wanted.chunks.len()) {
            let chunk = |image: &Image| image.chunks.get(index).cloned().flatten();
            let (old, new) = (chunk(held), chunk(wanted));
            if old.as_ref().map(Arc::as_ptr) == new.as_ref().map(Arc::as_ptr) {
                continue;
            }
            for place in 0..CHUNK_PAGES {
                let page = |chunk: &Option<Arc<Chunk>>| chunk.as_ref().and_then(|chunk| chunk[place].clone());
                let (old, new) = (page(&old), page(&new));
                if old.as_ref().map(Arc::as_ptr) == new.as_ref().map(Arc::as_ptr) {
                    continue;
                }
                let number = index * CHUNK_PAGES + place;
                all[number] = *new.as_ref().map_or_else(|| self.page(number as u32), |page| &page.bytes);
            }
        }
    }
}
