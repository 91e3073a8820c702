import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session/session-view.ts';

const TURNS = 6;

/** Detects two tools that alternate, undoing or triggering each other. */
export const cascadeOscillation: Rule = {
  id: 'cascade.oscillation',
  title: 'Two tools alternating',
  dimension: 'ASI08',
  llm: ['LLM10:2025 Unbounded Consumption'],
  signal:
    'Two tools alternate three or more times, and at least one of them acts: each seems to trigger the other.',
  weight: 0.22,
  cluster: 'loop',
  falsePositives: 'Processing a list: read an item, act on it. Equal arguments count more.',
  recommendation: {
    title: 'Break the loop',
    text: 'Limit the turns of the agent, and set a rate limit for the acting tool in a policy.',
  },
  detect(view) {
    let run = 1;
    let best: { end: number; length: number } | undefined;
    for (let at = 1; at < view.steps.length; at++) {
      const [two, one, now] = [view.steps[at - 2], view.steps[at - 1], view.steps[at]];
      run = now?.followsGap || one?.tool === now?.tool ? 1 : two?.tool === now?.tool ? run + 1 : 2;
      if (run >= TURNS && run > (best?.length ?? 0)) best = { end: at, length: run };
    }
    if (best === undefined) return undefined;
    const found = view.steps.slice(best.end - best.length + 1, best.end + 1);
    const acting = found.find((step) => step.acts);
    if (acting === undefined) return undefined;
    const other = found.find((step) => step.tool !== acting.tool) as (typeof found)[number];
    const different = new Set(found.map((step) => step.tool ^ step.argument)).size;
    return matched(
      found,
      different < found.length ? 1 : 0.4,
      `${toolName(view, acting.tool)} and ${toolName(view, other.tool)} alternated for ${found.length} calls.`,
    );
  },
  fires: [
    {
      name: 'on and off',
      steps: Array.from({ length: 4 }, () => [
        { tool: 'enable_service', given: 'x' },
        { tool: 'disable_service', given: 'x' },
      ]).flat(),
    },
  ],
  quiet: [
    {
      name: 'turns at both ends of a long session',
      steps: [
        { tool: 'list_files', times: 15 },
        ...['read_file', 'write_file', 'read_file'],
        { tool: 'list_files', times: 100 },
        ...['write_file', 'read_file', 'write_file'],
        { tool: 'list_files', times: 5 },
      ],
    },
    {
      name: 'two tools of reading',
      steps: Array.from({ length: 4 }, () => ['list_files', 'read_file']).flat(),
    },
    { name: 'two turns', steps: ['read_file', 'write_file', 'read_file', 'write_file'] },
  ],
};
