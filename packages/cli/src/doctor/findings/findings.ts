import { networkFindings } from './network-findings.ts';
import { packageFindings } from './package-findings.ts';
import { serviceFindings } from './service-findings.ts';
import { spoolFindings } from './spool-findings.ts';
import { variableFindings } from './variable-findings.ts';

/** All problems by their code, in the order of the checks. The table of docs/troubleshooting.md is made from them. */
export const findings = {
  ...variableFindings,
  ...networkFindings,
  ...serviceFindings,
  ...spoolFindings,
  ...packageFindings,
} as const;

/** Code of a problem, the same in every release. */
export type FindingCode = keyof typeof findings;

/** Names of the placeholders in a text. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** Values for the placeholders of a problem and its fix. */
export type FindingValues<Code extends FindingCode> = Readonly<
  Record<
    Placeholders<(typeof findings)[Code]['problem']> | Placeholders<(typeof findings)[Code]['fix']>,
    string | number
  >
>;
