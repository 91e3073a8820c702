import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects a tool name that imitates a known one. */
export const supplyConfusableTool: Rule = {
  id: 'supply.confusable-tool',
  title: 'Tool name made of look-alike letters',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal:
    'A tool’s name mixes scripts, contains invisible characters, or looks identical to a known tool’s name.',
  weight: 0.995,
  acts: ['tool_confusable'],
  cluster: 'new-tool',
  deterministic: true,
  habitual: false,
  falsePositives: 'None known: legitimate tools do not have such names.',
  recommendation: {
    title: 'Deny the tool now',
    text: 'Deny it with a policy, find the server that offers it, and remove that server from every agent.',
  },
  detect: (view) => stamped(view, 'tool_confusable', 1, 'A tool has a name with look-alike letters.'),
  fires: [{ name: 'stamped', steps: [{ tool: 'send_emаil', stamps: ['tool_confusable'] }] }],
  quiet: [
    { name: 'plain letters', steps: ['send_email'] },
    { name: 'another language', steps: ['отправить_письмо'] },
  ],
};
