import { randomUUID } from 'node:crypto';
import type { AgentName } from '../src/index.ts';

/** Events of one agent, with the fields and values of its documentation. */
export interface AgentEvents {
  readonly agent: AgentName;
  readonly toolName: string;
  /** Arguments of the command line, besides the name of the agent. */
  argsFor(event: EventKind): string[];
  before(call: ScriptedCall): object;
  succeeded(call: ScriptedCall): object;
  /** Missing if the agent has no such event. */
  failed?(call: ScriptedCall): object;
  /** Missing if the agent has no such event. */
  sessionEnd?(sessionId: string): object;
  prompt(sessionId: string): object;
  sessionStart(sessionId: string): object;
}

export type EventKind = 'before' | 'succeeded' | 'failed' | 'sessionEnd' | 'prompt' | 'sessionStart';

/** A call in a test. */
export interface ScriptedCall {
  readonly sessionId: string;
  readonly id: string;
  readonly command: string;
}

/** Creates a call in a new session. */
export function newCall(facts: Partial<ScriptedCall> = {}): ScriptedCall {
  return { sessionId: randomUUID(), id: `call_${randomUUID()}`, command: 'npm test', ...facts };
}

const none = (): string[] => [];

/** https://code.claude.com/docs/en/hooks */
const claudeBase = (hook_event_name: string, session_id: string) => ({
  session_id,
  transcript_path: '/home/user/.claude/projects/project/transcript.jsonl',
  cwd: '/home/user/project',
  permission_mode: 'default',
  hook_event_name,
});
const claudeTool = ({ id, command }: ScriptedCall) => ({
  tool_name: 'Bash',
  tool_input: { command, description: 'Run the tests' },
  tool_use_id: id,
});
export const claudeEvents: AgentEvents = {
  agent: 'claude-code',
  toolName: 'Bash',
  argsFor: none,
  before: (call) => ({ ...claudeBase('PreToolUse', call.sessionId), ...claudeTool(call) }),
  succeeded: (call) => ({
    ...claudeBase('PostToolUse', call.sessionId),
    ...claudeTool(call),
    tool_response: { stdout: 'ok', stderr: '', interrupted: false, isImage: false },
  }),
  failed: (call) => ({
    ...claudeBase('PostToolUseFailure', call.sessionId),
    ...claudeTool(call),
    error: 'Command exited with non-zero status code 1',
    is_interrupt: false,
  }),
  sessionEnd: (sessionId) => ({ ...claudeBase('SessionEnd', sessionId), reason: 'other' }),
  prompt: (sessionId) => ({ ...claudeBase('UserPromptSubmit', sessionId), prompt: 'Go on.' }),
  sessionStart: (sessionId) => ({ ...claudeBase('SessionStart', sessionId), source: 'startup' }),
};

/** `codex-rs/hooks/schema/generated` of openai/codex */
const codexBase = (hook_event_name: string, session_id: string) => ({
  session_id,
  turn_id: 'turn-1',
  transcript_path: null,
  cwd: '/home/user/project',
  hook_event_name,
  model: 'gpt-5-codex',
  permission_mode: 'default',
});
const codexTool = ({ id, command }: ScriptedCall) => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
});
const codexEvents: AgentEvents = {
  agent: 'codex',
  toolName: 'Bash',
  argsFor: none,
  before: (call) => ({ ...codexBase('PreToolUse', call.sessionId), ...codexTool(call) }),
  succeeded: (call) => ({
    ...codexBase('PostToolUse', call.sessionId),
    ...codexTool(call),
    tool_response: 'all tests passed',
  }),
  failed: (call) => ({
    ...codexBase('PostToolUse', call.sessionId),
    ...codexTool(call),
    tool_response: 'Exit code: 1\nWall time: 0.2 seconds\nOutput:\n3 tests failed\n',
  }),
  prompt: (sessionId) => ({ ...codexBase('UserPromptSubmit', sessionId), prompt: 'Go on.' }),
  sessionStart: (sessionId) => ({ ...codexBase('SessionStart', sessionId), source: 'startup' }),
};

/** https://geminicli.com/docs/hooks/reference */
const geminiBase = (hook_event_name: string, session_id: string) => ({
  session_id,
  transcript_path: '/home/user/.gemini/tmp/transcript.json',
  cwd: '/home/user/project',
  hook_event_name,
  timestamp: '2026-01-01T00:00:00.000Z',
});
const geminiTool = ({ command }: ScriptedCall) => ({
  tool_name: 'run_shell_command',
  tool_input: { command },
});
const geminiEvents: AgentEvents = {
  agent: 'gemini-cli',
  toolName: 'run_shell_command',
  argsFor: none,
  before: (call) => ({ ...geminiBase('BeforeTool', call.sessionId), ...geminiTool(call) }),
  succeeded: (call) => ({
    ...geminiBase('AfterTool', call.sessionId),
    ...geminiTool(call),
    tool_response: { llmContent: 'all tests passed', returnDisplay: 'all tests passed' },
  }),
  failed: (call) => ({
    ...geminiBase('AfterTool', call.sessionId),
    ...geminiTool(call),
    tool_response: {
      llmContent: 'failed',
      returnDisplay: 'failed',
      error: { message: 'failed', type: 'shell_execute_error' },
    },
  }),
  sessionEnd: (sessionId) => ({ ...geminiBase('SessionEnd', sessionId), reason: 'exit' }),
  prompt: (sessionId) => ({ ...geminiBase('BeforeAgent', sessionId), prompt: 'Go on.' }),
  sessionStart: (sessionId) => ({ ...geminiBase('SessionStart', sessionId), source: 'startup' }),
};

/** https://cursor.com/docs/hooks */
const cursorBase = (hook_event_name: string, conversation_id: string) => ({
  conversation_id,
  generation_id: 'generation-1',
  model: 'claude-sonnet-4-5',
  hook_event_name,
  cursor_version: '2.4.0',
  workspace_roots: ['/home/user/project'],
  user_email: null,
});
const cursorTool = ({ id, command }: ScriptedCall) => ({
  tool_name: 'Shell',
  tool_input: { command, working_directory: '/home/user/project' },
  tool_use_id: id,
  cwd: '/home/user/project',
});
const cursorEvents: AgentEvents = {
  agent: 'cursor',
  toolName: 'Shell',
  argsFor: none,
  before: (call) => ({ ...cursorBase('preToolUse', call.sessionId), ...cursorTool(call) }),
  succeeded: (call) => ({
    ...cursorBase('postToolUse', call.sessionId),
    ...cursorTool(call),
    tool_output: '{"exitCode":0,"stdout":"All tests passed"}',
    duration: 5432,
  }),
  failed: (call) => ({
    ...cursorBase('postToolUseFailure', call.sessionId),
    ...cursorTool(call),
    error_message: 'The command failed',
    failure_type: 'error',
    duration: 5000,
    is_interrupt: false,
  }),
  sessionEnd: (session_id) => ({ ...cursorBase('sessionEnd', session_id), session_id, reason: 'completed' }),
  prompt: (sessionId) => ({
    ...cursorBase('beforeSubmitPrompt', sessionId),
    prompt: 'Go on.',
    attachments: [],
  }),
  sessionStart: (session_id) => ({
    ...cursorBase('sessionStart', session_id),
    session_id,
    is_background_agent: false,
    composer_mode: 'agent',
  }),
};

/** https://docs.github.com/en/copilot/reference/hooks-reference */
const copilotBase = (sessionId: string) => ({
  sessionId,
  timestamp: 1_704_614_600_000,
  cwd: '/home/user/project',
});
const copilotTool = ({ command }: ScriptedCall) => ({ toolName: 'bash', toolArgs: { command } });
const copilotNames: Readonly<Record<EventKind, string>> = {
  before: 'preToolUse',
  succeeded: 'postToolUse',
  failed: 'postToolUseFailure',
  sessionEnd: 'sessionEnd',
  prompt: 'userPromptSubmitted',
  sessionStart: 'sessionStart',
};
const copilotEvents: AgentEvents = {
  agent: 'copilot',
  toolName: 'bash',
  argsFor: (event) => ['--event', copilotNames[event]],
  before: (call) => ({ ...copilotBase(call.sessionId), ...copilotTool(call) }),
  succeeded: (call) => ({
    ...copilotBase(call.sessionId),
    ...copilotTool(call),
    toolResult: { resultType: 'success', textResultForLlm: 'all tests passed' },
  }),
  failed: (call) => ({ ...copilotBase(call.sessionId), ...copilotTool(call), error: 'The command failed' }),
  sessionEnd: (sessionId) => ({ ...copilotBase(sessionId), reason: 'complete' }),
  prompt: (sessionId) => ({ ...copilotBase(sessionId), prompt: 'Go on.' }),
  sessionStart: (sessionId) => ({ ...copilotBase(sessionId), source: 'new' }),
};

/** Events of all agents. */
export const agentEvents: readonly AgentEvents[] = [
  claudeEvents,
  codexEvents,
  geminiEvents,
  cursorEvents,
  copilotEvents,
];
