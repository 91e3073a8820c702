import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { ToolDefinition } from './tool-definition.ts';

/** A definition that is trusted. */
export interface Pin {
  readonly definition: ToolDefinition;
  /** Time since when, in ISO 8601. */
  readonly since: string;
  /** Reason for the trust: `first use`, `accepted`, or the approval of a held action. */
  readonly by: string;
}

/** A definition that differs from the pinned one, or has none, and is not accepted yet. */
export interface Change {
  readonly definition: ToolDefinition;
  /** Time when it was seen first, in ISO 8601. */
  readonly seen: string;
  /** Reason why it would not be trusted even at first sight; omitted for none. */
  readonly problem?: string | undefined;
}

/** Server whose tools are pinned. */
export interface PinnedServer {
  /** Program or address of the server, without arguments, which may contain secrets. */
  readonly label: string;
  /** Identifies its command with all arguments, or its address, in the folder of pins. */
  readonly id: string;
}

/** Contents of a file of pins. */
export interface Pins {
  readonly server: PinnedServer;
  /** `true` once all tools of the first list are pinned: others are new. */
  readonly isComplete: boolean;
  readonly tools: readonly Pin[];
  readonly changes: readonly Change[];
}

/** Error thrown when a file of pins cannot be read. Trusting the server anew would accept what the pins were to stop. */
export class PinFileError extends Error {
  override readonly name = 'PinFileError';
}

/** File with the pinned definitions of one server's tools. */
export class PinFile {
  readonly path: string;
  readonly #server: PinnedServer;

  /** @param server - server of a file that does not exist yet */
  constructor(path: string, server: PinnedServer) {
    this.path = path;
    this.#server = server;
  }

  /**
   * Reads the pins; a new file has none.
   *
   * @throws PinFileError when the file is damaged or cannot be read
   */
  read(): Pins {
    const empty = { server: this.#server, isComplete: false, tools: [], changes: [] };
    return existsSync(this.path) ? readPins(this.path) : empty;
  }

  /** Returns the file with other pins of the same server, such as its prompts' pins. */
  beside(kind: string): PinFile {
    const { label, id } = this.#server;
    return new PinFile(`${this.path.replace(/\.json$/, '')}.${kind}.json`, {
      label: `${label} (${kind})`,
      id: `${id}.${kind}`,
    });
  }

  /** Changes the pins as they are now: another gateway, or a person, may have changed them. @throws when it fails */
  update(change: (pins: Pins) => Pins): Pins {
    const pins = change(this.read());
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const temporary = `${this.path}.${randomUUID()}`;
    try {
      writeFileSync(temporary, `${JSON.stringify({ version, ...pins }, undefined, 2)}\n`, { mode: 0o600 });
      renameSync(temporary, this.path);
    } finally {
      rmSync(temporary, { force: true });
    }
    return pins;
  }
}

const version = 1;

function readPins(path: string): Pins {
  let pins: unknown;
  try {
    pins = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new PinFileError(
      `${path} cannot be read${code ? ` (${code})` : ', because it is not JSON'}: ${fix}`,
    );
  }
  if (isPins(pins)) return pins;
  throw new PinFileError(`${path} is not a file of pins of version ${version}: ${fix}`);
}

const fix = 'restore it, or delete it to trust the tools of the next list.';

function isPins(value: unknown): value is Pins {
  const pins = (value ?? {}) as Partial<Pins> & { readonly version?: unknown };
  const haveNames = (all: unknown) =>
    Array.isArray(all) && all.every((one) => typeof one?.definition?.name === 'string');
  return (
    pins.version === version &&
    typeof pins.server?.label === 'string' &&
    typeof pins.server.id === 'string' &&
    haveNames(pins.tools) &&
    haveNames(pins.changes)
  );
}

/**
 * Accepts definitions that are not accepted yet.
 *
 * @param names - names of their tools; undefined for all
 * @param by - reason for the trust
 */
export function accepted(pins: Pins, names: ReadonlySet<string> | undefined, by: string): Pins {
  const isNamed = ({ definition }: Change) => names?.has(definition.name) ?? true;
  const now = new Date().toISOString();
  const taken = pins.changes.filter(isNamed).map(({ definition }) => ({ definition, since: now, by }));
  const takenNames = new Set(taken.map(({ definition }) => definition.name));
  return {
    ...pins,
    tools: [...pins.tools.filter(({ definition }) => !takenNames.has(definition.name)), ...taken],
    changes: pins.changes.filter((change) => !isNamed(change)),
  };
}

/** Returns the folder of pins: `ACTLOG_PINS_DIR`, otherwise in the state folder of the user. */
export function pinsFolder(): string {
  const { env, platform } = process;
  const named = env.ACTLOG_PINS_DIR?.trim();
  if (named) return resolve(named);
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'actlog', 'pins');
  if (platform === 'win32') {
    return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'actlog', 'pins');
  }
  const { XDG_STATE_HOME: state = '' } = env;
  return join(isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'actlog', 'pins');
}

/** Returns all files in the folder of pins. */
export function pinFiles(): PinFile[] {
  const folder = pinsFolder();
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  return names.sort().map((name) => new PinFile(join(folder, name), { label: name, id: name.slice(0, -5) }));
}

/** Returns the file of a server in the folder of pins. */
export function pinFileOf(server: PinnedServer): PinFile {
  return new PinFile(join(pinsFolder(), `${server.id}.json`), server);
}

/** Returns the identity of a server by its address. The query may contain a secret, and is not part of the label. */
export function serverAt(url: URL): PinnedServer {
  return { label: `${url.origin}${url.pathname}`, id: idOf([url.origin, url.pathname, url.search]) };
}

/** Returns the identity of a server by its command. Files are looked up in the current folder. */
export function serverOf([command = '', ...args]: readonly string[]): PinnedServer {
  const words = [command, ...args].map((word) => (existsSync(word) ? resolve(word) : word));
  const program = basename(command);
  const named = runners.has(program.replace(/\.(cmd|exe)$/i, '')) ? args.find(isWord) : undefined;
  const script = args.find((word) => statSync(word, { throwIfNoEntry: false })?.isFile());
  const what = named ?? (script && basename(script));
  return { label: what === undefined ? program : `${program} ${what}`, id: idOf(words) };
}

/** Programs whose first argument that is no option names a published package, which is no secret. */
const runners: ReadonlySet<string> = new Set(['npx', 'pnpx', 'bunx', 'uvx', 'pipx']);

function isWord(argument: string): boolean {
  return !argument.startsWith('-');
}

function idOf(words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 12);
}
