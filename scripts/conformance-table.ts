// Writes the requirements of docs/conformance.md from those that the suite holds a deployment against.
import { coverageSentence, coverageTable } from '../packages/contract/src/report/coverage-table.ts';
import { holdGeneratedPart } from './generated-part.ts';

holdGeneratedPart('conformance.md', `${coverageSentence()}\n\n${coverageTable()}`);
