// Writes the table of requirements in docs/conformance-requirements.md from the conformance suite.
import { coverageSentence, coverageTable } from '../packages/contract/src/command.ts';
import { holdGeneratedPart } from './generated-part.ts';

holdGeneratedPart('conformance-requirements.md', `${coverageSentence()}\n\n${coverageTable()}`);
