import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';

/**
 * Settings file of an agent: JSON, perhaps with comments. Edits are insertions of whole entries, and removals of these,
 * so that everything else keeps its text, and a removal restores the text from before the insertion.
 */
export class SettingsText {
  readonly text: string;
  readonly #root: Node;

  /**
   * @param file - path for errors
   * @throws SyntaxError when the text is not a JSON object
   */
  constructor(text: string, file: string) {
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (error || root?.type !== 'object') {
      const line = text.slice(0, error?.offset).split('\n').length;
      const problem = error ? `${printParseErrorCode(error.error)} in line ${line}` : 'it is not an object';
      throw new SyntaxError(`${file} is not valid JSON (${problem}): fix it, and run the command again.`);
    }
    this.text = text;
    this.#root = root;
  }

  /** Returns the entries of a list; undefined if there is no such list. */
  list(path: readonly string[]): unknown[] | undefined {
    const node = this.#find(path);
    // Its objects have no prototype, unlike those that they are compared with.
    return node?.type === 'array' ? (structuredClone(getNodeValue(node)) as unknown[]) : undefined;
  }

  /** Returns the names in an object; none if there is no such object. */
  names(path: readonly string[]): string[] {
    const node = this.#find(path);
    return node?.type === 'object' ? Object.keys(getNodeValue(node)) : [];
  }

  /**
   * Returns the text with an entry at the end of a list, which is created if necessary.
   *
   * @throws TypeError when a part of the path is something else
   */
  withEntry(path: readonly string[], entry: unknown, file: string): string {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = this.#find(path.slice(0, length));
      if (!node) continue;
      const expected = length === path.length ? 'array' : 'object';
      if (node.type !== expected) {
        const place = path.slice(0, length).join('.');
        throw new TypeError(
          `${file}: "${place}" must be an ${expected}, got ${node.type}. Fix it, and run the command again.`,
        );
      }
      const rest = path.slice(length);
      return this.#insert(
        node,
        rest,
        rest.reduceRight<unknown>(
          (value, name, index) => (index === 0 ? value : { [name]: value }),
          length === path.length ? entry : [entry],
        ),
      );
    }
    return this.text;
  }

  /** Returns the text without an entry of a list, and without containers that were created for it. */
  withoutEntry(path: readonly string[], index: number): string {
    let node = this.#find(path)?.children?.[index];
    // A container that starts with a new line was created together with its only entry.
    while (node?.parent && node.parent.children?.length === 1 && this.#isCreated(node.parent)) {
      const property: Node | undefined = node.parent.parent;
      if (property?.type !== 'property') break;
      node = property;
    }
    return node ? this.#remove(node) : this.text;
  }

  #find(path: readonly string[]): Node | undefined {
    return path.length === 0 ? this.#root : findNodeAtLocation(this.#root, [...path]);
  }

  #insert(container: Node, [name]: readonly string[], value: unknown): string {
    const children = container.children ?? [];
    const last = children.at(-1);
    const indent = this.#indentOf(container);
    const inner = indent + this.#unit;
    const json = JSON.stringify(value, undefined, this.#unit).replaceAll('\n', `\n${inner}`);
    const text = this.#withLineBreaks(name === undefined ? json : `${JSON.stringify(name)}: ${json}`);
    if (last) return this.#splice(last.offset + last.length, 0, `,${this.#lineBreak}${inner}${text}`);
    // Directly after the bracket, by which a removal knows that the container was there before.
    return this.#splice(container.offset + 1, 0, text);
  }

  #isCreated({ offset }: Node): boolean {
    return /^\r?\n/.test(this.text.slice(offset + 1));
  }

  #remove(node: Node): string {
    const siblings = node.parent?.children ?? [];
    const index = siblings.indexOf(node);
    const previous = siblings[index - 1];
    const next = siblings[index + 1];
    const end = node.offset + node.length;
    if (previous) {
      const start = previous.offset + previous.length;
      return this.#splice(start, end - start, '');
    }
    if (next) return this.#splice(node.offset, next.offset - node.offset, '');
    return this.#splice(node.offset, node.length, '');
  }

  #splice(offset: number, length: number, text: string): string {
    return this.text.slice(0, offset) + text + this.text.slice(offset + length);
  }

  /** Returns the white space at the start of the line on which a node begins. */
  #indentOf({ offset }: Node): string {
    const line = this.text.slice(this.text.lastIndexOf('\n', offset - 1) + 1, offset);
    return /^[ \t]*/.exec(line)?.[0] ?? '';
  }

  get #unit(): string {
    return /\n([ \t]+)\S/.exec(this.text)?.[1] ?? '  ';
  }

  get #lineBreak(): string {
    return this.text.includes('\r\n') ? '\r\n' : '\n';
  }

  #withLineBreaks(json: string): string {
    return this.#lineBreak === '\n' ? json : json.replaceAll('\n', '\r\n');
  }
}
