// Kills its process with SIGKILL before a change on disk: the one that KILL_BEFORE_WRITE counts from 1.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const changes = [
  'appendFileSync',
  'mkdirSync',
  'openSync',
  'renameSync',
  'rmdirSync',
  'rmSync',
  'unlinkSync',
  'writeFileSync',
  'writeSync',
];
const functions = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
let left = Number(process.env.KILL_BEFORE_WRITE);
for (const name of changes) {
  const original = functions[name] as (...args: unknown[]) => unknown;
  functions[name] = (...args) => {
    // Reading changes nothing.
    const isRead = name === 'openSync' && (args[1] === undefined || args[1] === 'r' || args[1] === 0);
    if (!isRead) left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    return original(...args);
  };
}
syncBuiltinESMExports();
