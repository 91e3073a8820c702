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
import { homedir } from 'node:os';
import { posix, resolve, win32 } from 'node:path';
import { decodeText } from '@actlog/recorder/short-lived';
import {
  applyEdits,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import type { GatewayFlags } from '../command/gateway-flags.ts';
import {
  type EntryChanges,
  isWrapped,
  obstacle,
  type ServerEntry,
  unwrapChanges,
  type WrapOptions,
  wrapChanges,
} from './server-entry.ts';

/** Variables that the gateway needs, and that programs of a desktop do not inherit from a shell. */
const variableNames = [
  'ACTLOG_BASE_URL',
  'ACTLOG_API_KEY',
  'ACTLOG_TENANT',
  'ACTLOG_SPOOL_DIR',
  'ACTLOG_ENVIRONMENT',
  'ACTLOG_GUARD',
  'ACTLOG_GUARD_ON_UNAVAILABLE',
  'ACTLOG_PINS_DIR',
] as const;

const required = ['ACTLOG_BASE_URL', 'ACTLOG_API_KEY'] as const;

/**
 * Puts the gateway into the configuration of a client, or takes it out.
 *
 * @returns the exit code
 * @throws Error when the file is missing or no configuration, or does not have the named server
 */
export function changeConfiguration(flags: GatewayFlags): number {
  const { wrap, unwrap, server, print } = flags;
  const isWrapping = wrap !== undefined;
  const file = new ConfigurationFile(configurationPath(wrap ?? unwrap ?? '', thisMachine()));
  const names = server === undefined ? file.names : file.names.filter((name) => name === server);
  if (names.length === 0 && server !== undefined) {
    throw new Error(
      `${file.path} has no server ${JSON.stringify(server)}: it has ${file.names.join(', ') || 'none'}.`,
    );
  }
  const variables = isWrapping ? variablesForGateway() : {};
  const changed = isWrapping
    ? file.wrapped(names, { options: optionsForGateway(flags), variables })
    : file.unwrapped(names);
  report(file.path, changed);
  if (print) process.stdout.write(withoutSecret(changed.text, variables.ACTLOG_API_KEY));
  else if (isWrapping) file.writeWrapped(changed);
  else file.writeUnwrapped(changed);
  const isChanged = changed.servers.some(({ outcome }) => outcome !== 'unchanged');
  if (isChanged && !print) process.stderr.write('Restart the client to use the changed configuration.\n');
  return 0;
}

function variablesForGateway(): Record<string, string> {
  const missing = required.filter((name) => !process.env[name]?.trim());
  if (missing.length > 0) {
    throw new Error(
      `${missing.join(' and ')} must be set: the gateway gets ${missing.length > 1 ? 'them' : 'it'} from the configuration.`,
    );
  }
  const entries = variableNames.flatMap((name) => {
    const value = process.env[name]?.trim();
    return value ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Returns the options that the gateway itself gets. */
function optionsForGateway(flags: GatewayFlags): string[] {
  const { agent, guard, onUnavailable, holdSeconds, toolPrefix, showArguments, announce } = flags;
  const { onChangedTool, deniedTools, pin } = flags;
  const values = {
    agent,
    guard,
    'on-unavailable': onUnavailable,
    'hold-seconds': holdSeconds,
    'tool-prefix': toolPrefix,
    'on-changed-tool': onChangedTool,
    'denied-tools': deniedTools,
    // Programs of a desktop have another current folder.
    pin: pin === undefined ? undefined : resolve(pin),
  };
  const options = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  const shown = showArguments === true ? '--show-arguments' : `--show-arguments=${showArguments}`;
  return [...options, ...(showArguments === undefined ? [] : [shown]), ...(announce ? ['--announce'] : [])];
}

function report(path: string, { servers }: ChangedText): void {
  process.stderr.write(`${path}\n`);
  if (servers.length === 0) process.stderr.write('  no servers\n');
  for (const { name, outcome, reason } of servers) {
    process.stderr.write(`  ${name}: ${outcome}${reason ? `, ${reason}` : ''}\n`);
  }
}

function withoutSecret(text: string, secret: string | undefined): string {
  return secret ? text.replaceAll(JSON.stringify(secret), '"…"') : text;
}

/** Facts of a machine that decide where clients keep their configuration. */
interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the facts of this machine. */
function thisMachine(): Machine {
  return { platform: process.platform, home: homedir(), env: process.env };
}

/**
 * Returns the path of a client's configuration: the file itself for anything but the name of a client.
 *
 * Claude Desktop: `claude_desktop_config.json`. Cursor: `~/.cursor/mcp.json`. VS Code: `mcp.json` of the user.
 */
export function configurationPath(target: string, { platform, home, env }: Machine): string {
  const { join } = platform === 'win32' ? win32 : posix;
  const settings = () => {
    if (platform === 'darwin') return join(home, 'Library', 'Application Support');
    if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
    return env.XDG_CONFIG_HOME || join(home, '.config');
  };
  switch (target) {
    case 'claude-desktop':
      return join(settings(), 'Claude', 'claude_desktop_config.json');
    case 'cursor':
      return join(home, '.cursor', 'mcp.json');
    case 'vscode':
      return join(settings(), 'Code', 'User', 'mcp.json');
    default:
      return target;
  }
}

/** Members that contain the servers: of Claude Desktop and Cursor, and of VS Code. */
const serversMembers = ['mcpServers', 'servers'] as const;

/** Outcome for one server of a configuration. */
interface ServerChange {
  readonly name: string;
  readonly outcome: 'wrapped' | 'unwrapped' | 'unchanged';
  /** Reason why the server is unchanged. */
  readonly reason?: string | undefined;
}

/** A changed configuration. */
interface ChangedText {
  readonly text: string;
  readonly servers: readonly ServerChange[];
}

/** Configuration of an MCP client as text: JSON with comments, which keeps everything but the changed servers. */
class ConfigurationText {
  readonly text: string;
  readonly #root: Node;
  readonly #member: string;

  /**
   * @param file - path for errors
   * @throws SyntaxError when the text is not JSON with comments, or has no servers
   */
  constructor(text: string, file: string) {
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (!root || error) {
      const line = text.slice(0, error?.offset).split('\n').length;
      const problem = error ? printParseErrorCode(error.error) : 'it is empty';
      throw new SyntaxError(
        `${file} is not valid JSON (${problem} in line ${line}): fix it, and run the command again.`,
      );
    }
    const member = serversMembers.find((name) => findNodeAtLocation(root, [name])?.type === 'object');
    if (member === undefined) {
      throw new SyntaxError(
        `${file} has no servers: it needs an object "mcpServers" or, for VS Code, "servers".`,
      );
    }
    this.text = text;
    this.#root = root;
    this.#member = member;
  }

  /** Names of the servers. */
  get names(): string[] {
    return Object.keys(this.#entries());
  }

  /** Puts the gateway in front of the named servers. Each change is inside the value of its server. */
  wrap(names: readonly string[], options: WrapOptions): ChangedText {
    return this.#change(names, (name, entry) => {
      if (isWrapped(entry)) return { name, outcome: 'unchanged', reason: 'it is wrapped already' };
      const reason = obstacle(entry);
      if (reason !== undefined) return { name, outcome: 'unchanged', reason };
      return { name, outcome: 'wrapped', changes: wrapChanges(entry, options) };
    });
  }

  /**
   * Takes the gateway away from the named servers.
   *
   * @param earlier - configuration before it was wrapped, whose very text is restored; undefined if it is lost
   */
  unwrap(names: readonly string[], earlier: ConfigurationText | undefined): ChangedText {
    return this.#change(names, (name, entry) => {
      if (!isWrapped(entry)) return { name, outcome: 'unchanged', reason: 'it is not wrapped' };
      const text = earlier?.unwrappedText(name);
      return {
        name,
        outcome: 'unwrapped',
        ...(text === undefined ? { changes: unwrapChanges(entry) } : { text }),
      };
    });
  }

  /** Returns the very text of a server that is not wrapped. */
  unwrappedText(name: string): string | undefined {
    const node = this.#node(name);
    const entry = this.#entries()[name];
    return node && entry && !isWrapped(entry) ? this.#textOf(node) : undefined;
  }

  #change(
    names: readonly string[],
    changeOf: (
      name: string,
      entry: ServerEntry,
    ) => ServerChange & { readonly changes?: EntryChanges; readonly text?: string },
  ): ChangedText {
    const servers: ServerChange[] = [];
    const replaced: { readonly node: Node; readonly text: string }[] = [];
    for (const name of names) {
      const node = this.#node(name);
      const entry = this.#entries()[name];
      if (!node || !entry) continue;
      const { changes, text, ...server } = changeOf(name, entry);
      servers.push(server);
      if (text !== undefined) replaced.push({ node, text });
      else if (changes) replaced.push({ node, text: this.#changedEntry(node, changes) });
    }
    // From the end, so that earlier offsets stay valid.
    const text = replaced
      .sort((one, other) => other.node.offset - one.node.offset)
      .reduce(
        (all, { node: { offset, length }, text }) => all.slice(0, offset) + text + all.slice(offset + length),
        this.text,
      );
    return { text, servers };
  }

  #changedEntry(node: Node, changes: EntryChanges): string {
    const formattingOptions = formattingOf(this.text);
    const before = this.text.slice(0, node.offset);
    const after = this.text.slice(node.offset + node.length);
    // In the whole text, so that new lines are indented like those around them.
    let text = this.text;
    for (const [name, value] of changes) {
      const path = [this.#member, nameOf(node), name];
      const formatted = applyEdits(text, modify(text, path, value, { formattingOptions }));
      // Whole lines are formatted: if others share them, the entry stays on its line.
      const isInside = formatted.startsWith(before) && formatted.endsWith(after);
      text = isInside ? formatted : applyEdits(text, modify(text, path, value, {}));
    }
    return text.slice(before.length, text.length - after.length);
  }

  #node(name: string): Node | undefined {
    return findNodeAtLocation(this.#root, [this.#member, name]);
  }

  #textOf({ offset, length }: Node): string {
    return this.text.slice(offset, offset + length);
  }

  #entries(): Readonly<Record<string, ServerEntry>> {
    const all = parse(this.text) as Readonly<Record<string, Record<string, unknown>>>;
    const entries = Object.entries(all[this.#member] ?? {});
    return Object.fromEntries(
      entries.filter(([, entry]) => typeof entry === 'object' && entry !== null) as [string, ServerEntry][],
    );
  }
}

function nameOf(node: Node): string {
  return String(node.parent?.children?.[0]?.value);
}

/** Finds out how a file is indented and how its lines end. */
function formattingOf(text: string) {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

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
   * @throws Error when the file does not exist or cannot be read; SyntaxError when it is not a configuration
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
