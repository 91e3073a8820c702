/**
 * Keeps from standard error that SQLite is an experimental feature of Node 22, which who runs a server can do nothing
 * about. Other warnings are shown as ever. Node warns when `node:sqlite` is loaded, so this comes before.
 */
export function hideSqliteWarning(): void {
  const emitWarning = process.emitWarning as (...told: unknown[]) => void;
  process.emitWarning = (...told: unknown[]) => {
    if (!String(told[0]).startsWith('SQLite is an experimental feature')) emitWarning.apply(process, told);
  };
}
