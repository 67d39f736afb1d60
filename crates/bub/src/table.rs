//! Rows in aligned columns, all at once or one by one as they come.

use crate::failure::Failure;
use crate::output;

/// A table whose columns grow with what they hold.
pub(crate) struct Table<const N: usize> {
    heads: [&'static str; N],
    widths: [usize; N],
    begun: bool,
}

impl<const N: usize> Table<N> {
    /// A table with these column heads.
    pub(crate) fn new(heads: [&'static str; N]) -> Self {
        Self { heads, widths: heads.map(|head| head.chars().count()), begun: false }
    }

    /// Prints rows, after making every column wide enough for all of them. The heads come with
    /// the first ones.
    pub(crate) fn print(&mut self, rows: &[[String; N]]) -> Result<(), Failure> {
        for row in rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        if !self.begun {
            self.begun = true;
            output::head(&self.aligned(&self.heads))?;
        }
        rows.iter().try_for_each(|row| output::line(&self.aligned(row)))
    }

    fn aligned(&self, cells: &[impl AsRef<str>; N]) -> String {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(self.widths) {
            line.push_str(&format!("{:<width$}  ", cell.as_ref()));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_so_far() {
        let mut table = Table::new(["ID", "STATUS"]);
        table.print(&[["translator".into(), "ready".into()]]).unwrap();
        assert_eq!(table.aligned(&["a", "busy"]), "a           busy");
        assert_eq!(table.aligned(&table.heads), "ID          STATUS");
    }
}
