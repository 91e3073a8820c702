import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { accepted, PinFile, type Pins, pinFiles, pinsFolder } from '../tools/pin-file.ts';
import { definitionDifference, visible } from '../tools/tool-definition.ts';

/**
 * Returns the pins of all servers, or of one, as text.
 *
 * @param server - id of a server, or the path of its file
 * @throws Error when there is no such server, or its file is damaged
 */
export function showPins(server: string | undefined, withDefinitions: boolean): string {
  const files = server === undefined ? pinFiles() : [fileOf(server)];
  if (files.length === 0) return `No tools are pinned yet in ${pinsFolder()}.\n`;
  const shown = files
    .map((file) => ({ file, pins: file.read() }))
    // Most servers have neither prompts nor instructions.
    .filter(({ pins }) => server !== undefined || pins.tools.length > 0 || pins.changes.length > 0);
  return shown.map(({ file, pins }) => textOf(file, pins, withDefinitions)).join('\n');
}

function textOf(file: PinFile, pins: Pins, withDefinitions: boolean): string {
  const { server, tools, changes } = pins;
  const counts = `${count(tools.length, 'pinned tool')}, ${count(changes.length, 'change')} to accept`;
  const lines = [`${server.id}  ${visible(server.label)}  ${counts}`, `  ${file.path}`];
  for (const { definition, since, by } of tools) {
    if (!withDefinitions) break;
    lines.push(`  = ${visible(definition.name)}  since ${since}, ${by}`);
    lines.push(indented(definitionDifference(undefined, definition)));
  }
  for (const { definition, seen, problem } of changes) {
    const pin = tools.find((one) => one.definition.name === definition.name);
    const because = problem === undefined ? '' : `, ${problem}`;
    lines.push(`  ${pin ? '~' : '+'} ${visible(definition.name)}  seen ${seen}${because}`);
    lines.push(indented(definitionDifference(pin?.definition, definition)));
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Accepts changed and new definitions, and returns what was done as text.
 *
 * @param tools - names as {@link showPins} shows them; undefined for all
 * @throws Error when there is no such server, or no such change
 */
export function acceptPins(server: string, tools: readonly string[] | undefined): string {
  const file = fileOf(server);
  const { changes } = file.read();
  const names = new Set(
    tools?.map((tool) => {
      const known = changes.find(({ definition }) =>
        [definition.name, visible(definition.name)].includes(tool),
      );
      if (known) return known.definition.name;
      const all = changes.map(({ definition }) => visible(definition.name)).join(', ');
      throw new Error(`${tool} is no changed or new tool of ${server}: it has ${all || 'none'}.`);
    }) ?? changes.map(({ definition }) => definition.name),
  );
  file.update((pins) => accepted(pins, names, 'accepted'));
  return `Accepted: ${[...names].map((name) => visible(name)).join(', ') || 'nothing, because nothing has changed'}.\n`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '      ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function fileOf(server: string): PinFile {
  const known = pinFiles().find(({ path }) => basename(path, '.json') === server);
  if (known) return known;
  if (existsSync(server)) return new PinFile(server, { label: server, id: server });
  const ids = pinFiles().map((file) => file.read().server.id);
  throw new Error(
    `There are no pins of ${JSON.stringify(server)}: pass the path of a file, or one of the ids ${ids.join(', ') || '(none)'}.`,
  );
}
