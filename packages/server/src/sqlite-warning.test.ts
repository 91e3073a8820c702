import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { hideSqliteWarning } from './sqlite-warning.ts';

test('hides only the warning about SQLite', async () => {
  const { emitWarning } = process;
  onTestFinished(() => {
    process.emitWarning = emitWarning;
  });
  const shown = once(process, 'warning');
  hideSqliteWarning();
  process.emitWarning(
    'SQLite is an experimental feature and might change at any time',
    'ExperimentalWarning',
  );
  process.emitWarning('Another is an experimental feature', 'ExperimentalWarning');
  expect(await shown).toMatchObject([
    { name: 'ExperimentalWarning', message: 'Another is an experimental feature' },
  ]);
});
