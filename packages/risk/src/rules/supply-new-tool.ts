import type { Rule } from '../rule.ts';
import { stamped } from '../rule-match.ts';

/** Detects a tool that no session of the tenant used before. */
export const supplyNewTool: Rule = {
  id: 'supply.new-tool',
  title: 'Tool that was never used before',
  dimension: 'ASI04',
  llm: ['LLM03:2025 Supply Chain'],
  signal: 'A tool is called that no earlier session of the tenant called.',
  weight: 0.15,
  acts: ['tool_new_to_tenant'],
  cluster: 'new-tool',
  falsePositives: 'Every new tool, once.',
  recommendation: {
    title: 'Confirm where the tool comes from',
    text: 'Check that the tool, or the server that offers it, was added on purpose and is the intended one.',
  },
  detect: (view) =>
    stamped(
      view,
      'tool_new_to_tenant',
      1,
      'A tool was called that no earlier session of this tenant had called.',
    ),
  fires: [{ name: 'stamped', steps: ['read_file', { tool: 'frobnicate', stamps: ['tool_new_to_tenant'] }] }],
  quiet: [{ name: 'known tools', steps: ['read_file', 'frobnicate'] }],
};
