import { checks } from '../checks.ts';
import { requirements } from '../requirements.ts';

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** Formats every requirement and its checks as Markdown, with one table per section. */
export function coverageTable(): string {
  const sections = [...new Set(requirements.map(({ section }) => section))];
  return sections.map(sectionTable).join('\n');
}

function sectionTable(section: string): string {
  const rows = requirements
    .filter((requirement) => requirement.section === section)
    .map(({ id, level, text, sources }) => {
      const mine = checks.filter(({ requirement }) => requirement === id);
      const statements = sources.map((source) => source.replace(`${section}: `, '')).join('; ');
      return `| ${id} | ${level} | ${cell(text)} | ${cell(statements)} | ${mine.length} |`;
    });
  return [
    `## ${section}`,
    '',
    '| id | level | requirement | statements | checks |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Returns a sentence with the numbers of requirements and checks. */
export function coverageSentence(): string {
  const own = requirements.filter(({ capability }) => capability === undefined);
  const count = (level: string) => own.filter((requirement) => requirement.level === level).length;
  const profile = new Set(
    requirements.filter(({ capability }) => capability !== undefined).map(({ id }) => id),
  );
  const profileChecks = checks.filter(({ requirement }) => profile.has(requirement)).length;
  return (
    `The specification has ${own.length} requirements (${count('MUST')} MUST, ${count('SHOULD')} SHOULD, ` +
    `${count('OPEN')} OPEN), covered by ${checks.length - profileChecks} checks; the reference profile adds ` +
    `${profile.size} requirements and ${profileChecks} checks.`
  );
}
