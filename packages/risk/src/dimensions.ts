import type { DimensionId } from './risk-score.ts';

/** Name of each dimension: OWASP Top 10 for Agentic Applications 2026 (OWASP GenAI Security Project, CC BY-SA 4.0). */
export const dimensionNames: Readonly<Record<DimensionId, string>> = {
  ASI01: 'Agent Goal Hijack',
  ASI02: 'Tool Misuse and Exploitation',
  ASI03: 'Identity and Privilege Abuse',
  ASI04: 'Agentic Supply Chain Vulnerabilities',
  ASI05: 'Unexpected Code Execution (RCE)',
  ASI06: 'Memory & Context Poisoning',
  ASI07: 'Insecure Inter-Agent Communication',
  ASI08: 'Cascading Failures',
  ASI09: 'Human-Agent Trust Exploitation',
  ASI10: 'Rogue Agents',
};

/** The ten dimensions in order. */
export const dimensionIds = Object.keys(dimensionNames) as readonly DimensionId[];

/** Entries of the OWASP Top 10 for LLM Applications 2025 that a rule can relate to. */
export type LlmRiskId =
  | 'LLM01:2025 Prompt Injection'
  | 'LLM02:2025 Sensitive Information Disclosure'
  | 'LLM03:2025 Supply Chain'
  | 'LLM04:2025 Data and Model Poisoning'
  | 'LLM05:2025 Improper Output Handling'
  | 'LLM06:2025 Excessive Agency'
  | 'LLM07:2025 System Prompt Leakage'
  | 'LLM08:2025 Vector and Embedding Weaknesses'
  | 'LLM09:2025 Misinformation'
  | 'LLM10:2025 Unbounded Consumption';
