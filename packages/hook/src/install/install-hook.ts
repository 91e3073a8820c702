import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { decodeText } from '@actlog/recorder/short-lived';
import { type AgentName, agents, isAgentName } from '../dialects/dialect.ts';
import { type AgentSettings, agentSettings, type HookEntry } from './agent-settings.ts';
import { type HookPlace, hookCommand, type InstallHookOptions, isHookCommand } from './hook-command.ts';
import { SettingsText } from './settings-text.ts';

/** Time beyond the waits of a hook that the agent allows it, in seconds. */
const marginSeconds = 30;
const defaultHoldSeconds = 300;
const defaultCheckSeconds = 5;

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
 * @throws TypeError when the agent is unknown, or the settings have another form
 * @throws SyntaxError when the settings are not valid JSON
 * @throws the system's error when the file cannot be read or written
 */
export function installHook(agent: AgentName, options: InstallHookOptions = {}): HookChange {
  const settings = settingsOf(agent);
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

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
