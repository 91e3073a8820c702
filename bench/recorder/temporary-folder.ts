import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** A new folder that is gone when this process has ended, unless it was killed. */
export function temporaryFolder(): string {
  if (folders.length === 0) process.on('exit', removeAll);
  const folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  folders.push(folder);
  return folder;
}
