import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { decodeText } from '@actlog/recorder/short-lived';
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { type AgentName, agents, isAgentName } from '../dialects/dialect.ts';
import { type AgentSettings, agentSettings, type HookEntry } from './agent-settings.ts';
import {
  type HookPlace,
  hookCommand,
  type InstallHookOptions,
  isHookCommand,
  realPathOf,
} from './hook-command.ts';

/** Time beyond the waits of a hook that the agent allows it, in seconds. */
const marginSeconds = 30;
const defaultHoldSeconds = 300;
const defaultCheckSeconds = 5;

/** Agents whose permission prompts a hook can answer. */
const agentsWithPrompts: readonly AgentName[] = ['claude-code', 'codex'];

/** Result of {@link installHook} and {@link removeHook}. */
export interface HookChange {
  /** Settings file of the agent. */
  readonly file: string;
  readonly outcome: 'installed' | 'updated' | 'removed' | 'unchanged';
  /** Advice for the user, in sentences. */
  readonly notes: readonly string[];
}

/**
 * Installs the hook in the settings of a coding agent. Everything else in the file stays as it is. Installing it again
 * changes only the options.
 *
 * @throws TypeError when the agent is unknown or has no option, or the settings have another form
 * @throws SyntaxError when the settings are not valid JSON
 * @throws the system's error when the file cannot be read or written
 */
export function installHook(agent: AgentName, options: InstallHookOptions = {}): HookChange {
  const settings = settingsOf(agent);
  if (options.holdPrompts && !agentsWithPrompts.includes(agent)) {
    throw new TypeError(
      `holdPrompts is for ${agentsWithPrompts.join(' and ')}, whose permission prompts a hook can answer, got ${agent}.`,
    );
  }
  const file = new SettingsFile(settings.file(options));
  const before = file.read();
  const { command, notes } = hookCommand(agent, options);
  const entries = settings.entries((event) => commandFor(agent, options, event, command), limitsOf(options));
  const text = before?.trim() ? before : `${JSON.stringify(settings.base)}\n`;
  const kept = withoutHook(agent, settings, text, file.path);
  const result = { file: file.path, notes: [...notes, ...(settings.notes?.(options) ?? [])] };
  if (kept !== text && isInstalled(agent, settings, text, entries, file.path)) {
    return { ...result, outcome: 'unchanged' };
  }
  file.write(withHook(kept, entries, file.path, !before?.trim()));
  return { ...result, outcome: kept === text ? 'installed' : 'updated' };
}

/**
 * Removes the hook from the settings of a coding agent, whose text is then as before the installation. A file that
 * contained nothing else is deleted.
 *
 * @throws TypeError when the agent is unknown
 * @throws SyntaxError when the settings are not valid JSON
 * @throws the system's error when the file cannot be read or written
 */
export function removeHook(agent: AgentName, place: HookPlace = {}): HookChange {
  const settings = settingsOf(agent);
  const file = new SettingsFile(settings.file(place));
  const before = file.read();
  const unchanged = { file: file.path, outcome: 'unchanged', notes: [] } as const;
  if (!before?.trim()) return unchanged;
  const text = withoutHook(agent, settings, before, file.path);
  if (text === before) return unchanged;
  if (text === emptiedText(agent, settings, file.path)) file.remove();
  else file.write(text);
  return { ...unchanged, outcome: 'removed' };
}

function settingsOf(agent: AgentName): AgentSettings {
  if (isAgentName(agent)) return agentSettings[agent];
  throw new TypeError(
    `agent must be one of ${Object.keys(agents).join(', ')}, got ${JSON.stringify(agent)}.`,
  );
}

/** Returns the command line for an event, which contains the event's name for Copilot. */
function commandFor(agent: AgentName, options: InstallHookOptions, event: string, command: string): string {
  return agent === 'copilot' ? hookCommand(agent, options, ['--event', event]).command : command;
}

function limitsOf(options: InstallHookOptions) {
  const holdSeconds = options.holdTimeoutSeconds ?? defaultHoldSeconds;
  const checkSeconds = options.checkTimeoutSeconds ?? defaultCheckSeconds;
  return {
    beforeSeconds: Math.ceil(holdSeconds + checkSeconds + marginSeconds),
    otherSeconds: marginSeconds,
    isFailClosed: options.guard === 'enforce' && options.onUnavailable === 'deny',
    holdsPrompts: options.holdPrompts === true,
  };
}

/** Returns the text that remains of a file that was created for the hook. */
function emptiedText(agent: AgentName, settings: AgentSettings, file: string): string {
  const entries = settings.entries(() => `actlog hook ${agent}`, limitsOf({}));
  return withoutHook(agent, settings, withHook(JSON.stringify(settings.base), entries, file, true), file);
}

function withHook(text: string, entries: readonly HookEntry[], file: string, isNew: boolean): string {
  if (isNew) {
    const hooks = Object.fromEntries(entries.map(({ event, entry }) => [event, [entry]]));
    return `${JSON.stringify({ ...JSON.parse(text), hooks }, undefined, 2)}\n`;
  }
  return entries.reduce(
    (all, { event, entry }) => new SettingsText(all, file).withEntry(['hooks', event], entry, file),
    text,
  );
}

function withoutHook(agent: AgentName, settings: AgentSettings, text: string, file: string): string {
  let rest = text;
  for (;;) {
    const parsed = new SettingsText(rest, file);
    const found = ownEntries(agent, settings, parsed).at(-1);
    if (!found) return rest;
    rest = parsed.withoutEntry(['hooks', found.event], found.index);
  }
}

function isInstalled(
  agent: AgentName,
  settings: AgentSettings,
  text: string,
  wanted: readonly HookEntry[],
  file: string,
): boolean {
  const own = ownEntries(agent, settings, new SettingsText(text, file));
  return (
    own.length === wanted.length &&
    wanted.every((one) => own.some(({ event, entry }) => isDeepStrictEqual({ event, entry }, one)))
  );
}

function ownEntries(agent: AgentName, settings: AgentSettings, text: SettingsText) {
  return text.names(['hooks']).flatMap((event) =>
    (text.list(['hooks', event]) ?? [])
      .map((entry, index) => ({ event, index, entry }))
      .filter(({ entry }) => {
        const commands = settings.commandsOf(entry);
        return commands.length > 0 && commands.every((command) => isHookCommand(agent, command));
      }),
  );
}

/** Permissions of a new settings file, as the agents create it. */
const newFileMode = 0o600;

/** Settings file on disk. Written as a whole, so that an agent never reads half of it. */
class SettingsFile {
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

/**
 * Settings file of an agent: JSON, perhaps with comments. Edits are insertions of whole entries, and removals of these,
 * so that everything else keeps its text, and a removal restores the text from before the insertion.
 */
class SettingsText {
  readonly text: string;
  readonly #root: Node;

  /**
   * @param file - path for errors
   * @throws SyntaxError when the text is not a JSON object
   */
  constructor(text: string, file: string) {
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (error || root?.type !== 'object') {
      const line = text.slice(0, error?.offset).split('\n').length;
      const problem = error ? `${printParseErrorCode(error.error)} in line ${line}` : 'it is not an object';
      throw new SyntaxError(`${file} is not valid JSON (${problem}): fix it, and run the command again.`);
    }
    this.text = text;
    this.#root = root;
  }

  /** Returns the entries of a list; undefined if there is no such list. */
  list(path: readonly string[]): unknown[] | undefined {
    const node = this.#find(path);
    // Its objects have no prototype, unlike those that they are compared with.
    return node?.type === 'array' ? (structuredClone(getNodeValue(node)) as unknown[]) : undefined;
  }

  /** Returns the names in an object; none if there is no such object. */
  names(path: readonly string[]): string[] {
    const node = this.#find(path);
    return node?.type === 'object' ? Object.keys(getNodeValue(node)) : [];
  }

  /**
   * Returns the text with an entry at the end of a list, which is created if necessary.
   *
   * @throws TypeError when a part of the path is something else
   */
  withEntry(path: readonly string[], entry: unknown, file: string): string {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = this.#find(path.slice(0, length));
      if (!node) continue;
      const expected = length === path.length ? 'array' : 'object';
      if (node.type !== expected) {
        const place = path.slice(0, length).join('.');
        throw new TypeError(
          `${file}: "${place}" must be an ${expected}, got ${node.type}. Fix it, and run the command again.`,
        );
      }
      const rest = path.slice(length);
      return this.#insert(
        node,
        rest,
        rest.reduceRight<unknown>(
          (value, name, index) => (index === 0 ? value : { [name]: value }),
          length === path.length ? entry : [entry],
        ),
      );
    }
    return this.text;
  }

  /** Returns the text without an entry of a list, and without containers that were created for it. */
  withoutEntry(path: readonly string[], index: number): string {
    let node = this.#find(path)?.children?.[index];
    // A container that starts with a new line was created together with its only entry.
    while (node?.parent && node.parent.children?.length === 1 && this.#isCreated(node.parent)) {
      const property: Node | undefined = node.parent.parent;
      if (property?.type !== 'property') break;
      node = property;
    }
    return node ? this.#remove(node) : this.text;
  }

  #find(path: readonly string[]): Node | undefined {
    return path.length === 0 ? this.#root : findNodeAtLocation(this.#root, [...path]);
  }

  #insert(container: Node, [name]: readonly string[], value: unknown): string {
    const children = container.children ?? [];
    const last = children.at(-1);
    const indent = this.#indentOf(container);
    const inner = indent + this.#unit;
    const json = JSON.stringify(value, undefined, this.#unit).replaceAll('\n', `\n${inner}`);
    const text = this.#withLineBreaks(name === undefined ? json : `${JSON.stringify(name)}: ${json}`);
    if (last) return this.#splice(last.offset + last.length, 0, `,${this.#lineBreak}${inner}${text}`);
    // Directly after the bracket, by which a removal knows that the container was there before.
    return this.#splice(container.offset + 1, 0, text);
  }

  #isCreated({ offset }: Node): boolean {
    return /^\r?\n/.test(this.text.slice(offset + 1));
  }

  #remove(node: Node): string {
    const siblings = node.parent?.children ?? [];
    const index = siblings.indexOf(node);
    const previous = siblings[index - 1];
    const next = siblings[index + 1];
    const end = node.offset + node.length;
    if (previous) {
      const start = previous.offset + previous.length;
      return this.#splice(start, end - start, '');
    }
    if (next) return this.#splice(node.offset, next.offset - node.offset, '');
    return this.#splice(node.offset, node.length, '');
  }

  #splice(offset: number, length: number, text: string): string {
    return this.text.slice(0, offset) + text + this.text.slice(offset + length);
  }

  /** Returns the white space at the start of the line on which a node begins. */
  #indentOf({ offset }: Node): string {
    const line = this.text.slice(this.text.lastIndexOf('\n', offset - 1) + 1, offset);
    return /^[ \t]*/.exec(line)?.[0] ?? '';
  }

  get #unit(): string {
    return /\n([ \t]+)\S/.exec(this.text)?.[1] ?? '  ';
  }

  get #lineBreak(): string {
    return this.text.includes('\r\n') ? '\r\n' : '\n';
  }

  #withLineBreaks(json: string): string {
    return this.#lineBreak === '\n' ? json : json.replaceAll('\n', '\r\n');
  }
}
