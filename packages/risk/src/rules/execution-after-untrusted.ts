import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, tallyOf, toolName } from '../session/session-view.ts';

/** Detects code that runs after untrusted content. */
export const executionAfterUntrusted: Rule = {
  id: 'execution.after-untrusted',
  title: 'Code run after untrusted content',
  dimension: 'ASI05',
  llm: ['LLM01:2025 Prompt Injection', 'LLM05:2025 Improper Output Handling'],
  signal:
    'The agent runs code or a command, or controls a computer, after it read text of third parties other than code.',
  weight: 0.2,
  acts: ['exec'],
  circumstantial: true,
  cluster: 'irreversible-after-untrusted',
  precedented: true,
  falsePositives: 'Coding agents, which read issues and run tests; their baseline lowers this.',
  recommendation: {
    title: 'Run code in a sandbox',
    text: 'Run it in a sandbox without network and secrets, and require approval after untrusted content was read.',
  },
  detect(view) {
    const found = sequence(view, 'outside', 'exec');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} ran code after ${toolName(view, read.tool)} read text from outside the workspace.`,
      tallyOf(view, 'exec').count + 1,
    );
  },
  fires: [
    { name: 'reads an issue, runs a command', steps: ['get_issue', 'execute_command'] },
    { name: 'reads a page, runs Python', steps: ['fetch_url', 'python_repl'] },
  ],
  quiet: [
    { name: 'runs, then reads', steps: ['execute_command', 'get_issue'] },
    { name: 'reads a page, calculates', steps: ['fetch_url', 'calculate'] },
  ],
};
