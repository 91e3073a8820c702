import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';

const ENOUGH = 5;
const FAR = 0.8;

/** Detects a session that differs from all past sessions of the agent. */
export const rogueDrift: Rule = {
  id: 'rogue.drift',
  title: 'Unlike all past sessions',
  dimension: 'ASI10',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'At least 80% of the session’s calls deviate from how past sessions distributed their calls over tools, and some of them act.',
  weight: 0.3,
  habitual: false,
  falsePositives: 'An agent with a new job.',
  recommendation: {
    title: 'Confirm the new job',
    text: 'If nobody gave the agent a new job, stop it and check what it read first.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined || expected.all.length < ENOUGH || view.acts.length === 0) return undefined;
    if (view.steps.length < 3) return undefined;
    let all = 0;
    for (const past of expected.all) all += past.acts + past.looks;
    let calls = 0;
    for (const [, tool] of view.tools) calls += tool.count;
    let alike = 0;
    for (const [hash, tool] of view.tools) {
      let usual = 0;
      for (const past of expected.all) usual += past.tools.get(hash) ?? 0;
      alike += Math.min(tool.count / calls, usual / Math.max(1, all));
    }
    if (1 - alike < FAR) return undefined;
    const strange = view.steps.filter((step) => !expected.all.some((past) => past.tools.has(step.tool)));
    return matched(
      strange.length > 0 ? strange : view.steps,
      1 - alike,
      `${Math.round((1 - alike) * 100)}% of the calls deviate from how past sessions distributed theirs.`,
    );
  },
  fires: [
    {
      name: 'a reader becomes a payer',
      steps: ['get_invoice', 'send_payment', 'send_payment', 'delete_file'],
      history: Array.from({ length: 6 }, () => ['read_file', 'search_files']),
    },
  ],
  quiet: [
    {
      name: 'much as before',
      steps: ['read_file', 'search_files', 'write_file'],
      history: Array.from({ length: 6 }, () => ['read_file', 'search_files', 'write_file']),
    },
  ],
};
