//! A file whose pages are overwritten one after the other, each on disk before the next: the least that durable costs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A page of the database.
const PAGE: usize = 4096;
/// The file is written once in full, so that later writes overwrite, as those to a write-ahead log do.
const PAGES: u64 = 1024;

pub(crate) struct Pages {
    file: File,
    next: u64,
}

impl Pages {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        for number in 0..PAGES {
            file.write_all_at(&[0x5a; PAGE], number * PAGE as u64)?;
        }
        file.sync_all()?;
        Ok(Self { file, next: 0 })
    }

    /// One page, on disk.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        self.file.write_all_at(&[0x5a; PAGE], self.next % PAGES * PAGE as u64)?;
        self.next += 1;
        self.file.sync_data()
    }
}
