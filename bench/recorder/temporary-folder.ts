import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** Creates a folder that is removed when this process ends, unless it is killed. */
export function temporaryFolder(): string {
  if (folders.length === 0) process.on('exit', removeAll);
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  folders.push(folder);
  return folder;
}
