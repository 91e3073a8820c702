import {
  copyFileSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { decodeText } from '@actlog/recorder/short-lived';
import { type ChangedText, ConfigurationText } from './configuration-text.ts';
import type { WrapOptions } from './server-entry.ts';

const byteOrderMark = '\uFEFF';

/** Permissions of a file that contains the API key. */
const ownerOnly = 0o600;

/** Configuration of an MCP client on disk, with a backup of what it was before it was wrapped. */
export class ConfigurationFile {
  /** Path of the file itself, also if it was named by a link. */
  readonly path: string;
  readonly #mark: string;
  readonly #configuration: ConfigurationText;

  /**
   * Reads a configuration.
   *
   * @throws Error when the file does not exist or cannot be read; SyntaxError when it is no configuration
   */
  constructor(path: string) {
    if (!existsSync(path)) {
      throw new Error(
        `${path} does not exist: start the client once and add a server, or pass the path of its file.`,
      );
    }
    this.path = realpathSync(path);
    const bytes = readFileSync(this.path);
    this.#mark = bytes.toString().startsWith(byteOrderMark) ? byteOrderMark : '';
    this.#configuration = new ConfigurationText(decodeText(bytes), path);
  }

  /** Path of the backup. */
  get backupPath(): string {
    return `${this.path}.before-actlog`;
  }

  /** Names of the servers. */
  get names(): string[] {
    return this.#configuration.names;
  }

  /** Returns the configuration with the gateway in front of the named servers. */
  wrapped(names: readonly string[], options: WrapOptions): ChangedText {
    return this.#configuration.wrap(names, options);
  }

  /** Returns the configuration without the gateway in front of the named servers. */
  unwrapped(names: readonly string[]): ChangedText {
    return this.#configuration.unwrap(names, this.#backup());
  }

  /** Writes a wrapped configuration, after a backup of the servers as they were. */
  writeWrapped({ text }: ChangedText): void {
    if (text === this.#configuration.text) return;
    // Servers that are wrapped already are in the earlier backup as they were.
    const before = this.#configuration.unwrap(this.names, this.#backup());
    if (before.text === this.#configuration.text) copyFileSync(this.path, this.backupPath);
    else this.#write(this.backupPath, before.text);
    this.#write(this.path, text);
  }

  /** Writes an unwrapped configuration, and removes the backup when nothing needs it any more. */
  writeUnwrapped({ text }: ChangedText): void {
    if (text !== this.#configuration.text) this.#write(this.path, text);
    const rest = new ConfigurationFile(this.path);
    const isNeeded = rest.unwrapped(rest.names).servers.some(({ outcome }) => outcome === 'unwrapped');
    if (!isNeeded) rmSync(this.backupPath, { force: true });
  }

  #backup(): ConfigurationText | undefined {
    if (!existsSync(this.backupPath)) return undefined;
    try {
      return new ConfigurationText(decodeText(readFileSync(this.backupPath)), this.backupPath);
    } catch {
      return undefined; // the user edited it: servers are restored from the gateway's arguments
    }
  }

  /**
   * Replaces a file in one step, so that a crash leaves the old or the new one. It is readable for its owner only, because
   * it contains the API key, or did.
   */
  #write(path: string, text: string): void {
    const temporary = `${path}.${process.pid}.new`;
    rmSync(temporary, { force: true });
    // `wx` follows no link that another user may have put there.
    const mode = statSync(this.path).mode & ownerOnly;
    writeFileSync(temporary, this.#mark + text, { mode, flag: 'wx' });
    renameSync(temporary, path);
  }
}
