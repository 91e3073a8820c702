/**
 * Suppresses the warning of Node 22 that SQLite is an experimental feature, about which an operator can do nothing.
 * Other warnings are still shown. Call it before `node:sqlite` is loaded, which emits the warning.
 */
export function hideSqliteWarning(): void {
  const emitWarning = process.emitWarning as (...args: unknown[]) => void;
  process.emitWarning = (...args: unknown[]) => {
    if (!String(args[0]).startsWith('SQLite is an experimental feature')) emitWarning.apply(process, args);
  };
}
