import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { decodeText } from '@actlog/recorder/short-lived';
import { parse } from 'smol-toml';
import type { AgentName } from '../dialects/dialect.ts';
import type { HookPlace } from './hook-command.ts';

/** Time limits of a hook, in seconds. */
export interface HookLimits {
  /** Limit before a tool, which includes the wait for an approval. */
  readonly beforeSeconds: number;
  /** Limit of all other events, which do not wait for anything. */
  readonly otherSeconds: number;
  /** `true` if a call must not run when the hook fails. */
  readonly isFailClosed: boolean;
  /** `true` if people answer the agent's permission prompts elsewhere. */
  readonly holdsPrompts: boolean;
}

/** Entry of an agent's settings for one event. */
export interface HookEntry {
  readonly event: string;
  readonly entry: unknown;
}

/** Settings of an agent: where its hooks are, and how they are written. */
export interface AgentSettings {
  /** Returns the path of the file. */
  file(place: HookPlace): string;
  /** Content of a new file, besides the hooks. */
  readonly base: Readonly<Record<string, unknown>>;
  /** Returns the entries, one for each event. `commandFor` returns the command line for an event. */
  entries(commandFor: (event: string) => string, limits: HookLimits): HookEntry[];
  /** Returns the command lines of an entry. */
  commandsOf(entry: unknown): unknown[];
  /** Returns advice for the user after an installation. */
  notes?(place: HookPlace): string[];
}

const claudeEvents = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'UserPromptSubmit',
  'SubagentStop',
  'SessionStart',
  'SessionEnd',
];
const codexEvents = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop', 'SessionStart'];
const geminiEvents = ['BeforeTool', 'AfterTool', 'BeforeAgent', 'AfterAgent', 'SessionStart', 'SessionEnd'];
const cursorEvents = [
  'preToolUse',
  'postToolUse',
  'postToolUseFailure',
  'beforeSubmitPrompt',
  'stop',
  'sessionStart',
  'sessionEnd',
];
const copilotEvents = [
  'preToolUse',
  'postToolUse',
  'postToolUseFailure',
  'userPromptSubmitted',
  'agentStop',
  'sessionStart',
  'sessionEnd',
];

const promptEvent = 'PermissionRequest';
const promptEvents = ({ holdsPrompts }: HookLimits) => (holdsPrompts ? [promptEvent] : []);
const isBefore = (event: string) => /^(?:pre|before)tool/i.test(event);
const secondsOf = (event: string, limits: HookLimits) =>
  isBefore(event) || event === promptEvent ? limits.beforeSeconds : limits.otherSeconds;

/** Returns the commands of a group of hooks, as Claude Code, Codex and Gemini CLI write them. */
function groupCommands(entry: unknown): unknown[] {
  const { hooks } = (entry ?? {}) as { readonly hooks?: unknown };
  return Array.isArray(hooks) ? hooks.flatMap((hook) => plainCommands(hook)) : [];
}

/** Returns the command of a single hook, as Cursor and Copilot write them. */
function plainCommands(entry: unknown): unknown[] {
  return [(entry as { readonly command?: unknown } | null)?.command];
}

/** Returns a folder in the home, or the one that a variable of the agent names. */
function userFolder({ homeFolder }: HookPlace, name: string, variable?: string): string {
  const named = variable && homeFolder === undefined ? process.env[variable]?.trim() : undefined;
  return named ? resolve(named) : join(homeFolder ?? homedir(), name);
}

function projectFolder({ projectFolder: folder = process.cwd() }: HookPlace, ...names: string[]): string {
  return join(resolve(folder), ...names);
}

/** Settings of all agents, by their documentation. */
export const agentSettings: Readonly<Record<AgentName, AgentSettings>> = {
  // https://code.claude.com/docs/en/hooks
  'claude-code': {
    file: (place) =>
      place.scope === 'project'
        ? projectFolder(place, '.claude', 'settings.json')
        : join(userFolder(place, '.claude', 'CLAUDE_CONFIG_DIR'), 'settings.json'),
    base: {},
    entries: (commandFor, limits) =>
      [...claudeEvents, ...promptEvents(limits)].map((event) => {
        const onFailure = isBefore(event) && limits.isFailClosed ? { onFailure: 'block' } : {};
        const hook = { type: 'command', command: commandFor(event), timeout: secondsOf(event, limits) };
        return { event, entry: { hooks: [{ ...hook, ...onFailure }] } };
      }),
    commandsOf: groupCommands,
  },
  // https://developers.openai.com/codex/hooks
  codex: {
    file: (place) =>
      place.scope === 'project'
        ? projectFolder(place, '.codex', 'hooks.json')
        : join(userFolder(place, '.codex', 'CODEX_HOME'), 'hooks.json'),
    base: {},
    entries: (commandFor, limits) =>
      [...codexEvents, ...promptEvents(limits)].map((event) => ({
        event,
        entry: {
          hooks: [{ type: 'command', command: commandFor(event), timeout: secondsOf(event, limits) }],
        },
      })),
    commandsOf: groupCommands,
    notes: (place) => [
      'Codex runs a hook only after you trust it: start codex, enter /hooks, and trust those of actlog.',
      ...(codexHooksAreOff(place)
        ? ['Hooks are turned off in config.toml of Codex: set "hooks = true" in its table [features].']
        : []),
    ],
  },
  // https://geminicli.com/docs/hooks/reference
  'gemini-cli': {
    file: (place) =>
      place.scope === 'project'
        ? projectFolder(place, '.gemini', 'settings.json')
        : join(userFolder(place, '.gemini'), 'settings.json'),
    base: {},
    entries: (commandFor, limits) =>
      geminiEvents.map((event) => {
        const timeout = secondsOf(event, limits) * 1000;
        return {
          event,
          entry: { hooks: [{ name: 'actlog', type: 'command', command: commandFor(event), timeout }] },
        };
      }),
    commandsOf: groupCommands,
    notes: () => [
      'Gemini CLI may hide variables with names such as ACTLOG_API_KEY from hooks: if nothing is recorded, use --env-file.',
    ],
  },
  // https://cursor.com/docs/hooks
  cursor: {
    file: (place) =>
      place.scope === 'project'
        ? projectFolder(place, '.cursor', 'hooks.json')
        : join(userFolder(place, '.cursor'), 'hooks.json'),
    base: { version: 1 },
    entries: (commandFor, limits) =>
      cursorEvents.map((event) => {
        const failClosed = isBefore(event) && limits.isFailClosed ? { failClosed: true } : {};
        return {
          event,
          entry: { command: commandFor(event), timeout: secondsOf(event, limits), ...failClosed },
        };
      }),
    commandsOf: plainCommands,
  },
  // https://docs.github.com/en/copilot/reference/hooks-reference
  copilot: {
    file: (place) =>
      place.scope === 'project'
        ? projectFolder(place, '.github', 'hooks', 'actlog.json')
        : join(userFolder(place, '.copilot', 'COPILOT_HOME'), 'hooks', 'actlog.json'),
    base: { version: 1 },
    entries: (commandFor, limits) =>
      copilotEvents.map((event) => ({
        event,
        entry: { type: 'command', command: commandFor(event), timeoutSec: secondsOf(event, limits) },
      })),
    commandsOf: plainCommands,
  },
};

/** Returns `true` if the configuration of Codex turns hooks off. */
function codexHooksAreOff(place: HookPlace): boolean {
  try {
    const file = join(userFolder(place, '.codex', 'CODEX_HOME'), 'config.toml');
    const { features } = parse(decodeText(readFileSync(file))) as {
      readonly features?: { readonly hooks?: unknown; readonly codex_hooks?: unknown };
    };
    return features?.hooks === false || features?.codex_hooks === false;
  } catch {
    return false; // There is no such file, or Codex itself reports what is wrong with it.
  }
}
