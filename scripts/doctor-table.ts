// Writes the table of docs/troubleshooting.md from the problems that `actlog doctor` finds.
import { findingsTable } from '../packages/cli/src/doctor/findings/findings-table.ts';
import { holdGeneratedPart } from './generated-part.ts';

holdGeneratedPart('troubleshooting.md', findingsTable());
