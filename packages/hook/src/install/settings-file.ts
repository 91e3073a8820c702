import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { decodeText } from '@actlog/recorder/short-lived';

/** Permissions of a new settings file: those of the agents themselves. */
const newFileMode = 0o600;

/** Settings file on disk. Written as a whole, so that an agent never reads half of it. */
export class SettingsFile {
  /** Path, with symbolic links resolved: dotfiles are often links. */
  readonly path: string;

  constructor(path: string) {
    this.path = realPathOf(path);
  }

  /** Returns the text without a byte order mark, which some agents reject; undefined if there is no file. */
  read(): string | undefined {
    try {
      return decodeText(readFileSync(this.path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** @throws the system's error; the file is then unchanged */
  write(text: string): void {
    const mode = statSync(this.path, { throwIfNoEntry: false })?.mode ?? newFileMode;
    const temporary = `${this.path}.${process.pid}.tmp`;
    mkdirSync(dirname(this.path), { recursive: true });
    try {
      writeFileSync(temporary, text, { mode: mode & 0o777 });
      renameSync(temporary, this.path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
