import {
  type Document,
  isCollection,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import type { FileProblem } from './policy-file-error.ts';
import type { Position } from './position.ts';

/** A YAML or JSON file, with the positions of its values. JSON is read as YAML, which includes it. */
export class SourceFile {
  readonly file: string;
  readonly #text: string;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;

  constructor(file: string, text: string) {
    this.file = file;
    this.#text = text;
    // Pretty errors quote the file.
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    visit(this.#document, {
      Scalar: (_key, node) => {
        // As the service reads arguments: another number would have the same double.
        const isLarge = typeof node.value === 'number' && !Number.isSafeInteger(node.value);
        if (isLarge && /^[+-]?\d+$/.test(node.source ?? '')) node.value = BigInt(node.source as string);
      },
    });
  }

  /** Syntax errors of the file. */
  get problems(): FileProblem[] {
    return this.#document.errors.map(({ code, message, pos }) => ({
      position: this.#at(pos[0]),
      message:
        code === 'MULTIPLE_DOCS' ? 'has more than one document; put all policies into one list' : message,
    }));
  }

  /** Returns the content as plain values, with a BigInt for a whole number beyond 2^53. @throws ReferenceError for aliases that expand to too many values */
  toValue(): unknown {
    return this.#document.toJS();
  }

  /** Returns the position of a value, or that of the object it is missing from. */
  positionOf(path: readonly PropertyKey[]): Position {
    return this.#at(this.#nodeAt(path)?.range?.[0] ?? 0);
  }

  /** Returns the position of a key in an object. */
  positionOfKey(path: readonly PropertyKey[], key: string): Position {
    const node = this.#nodeAt(path);
    const pair = isMap(node)
      ? node.items.find((one) => isScalar(one.key) && one.key.value === key)
      : undefined;
    return this.#at((pair?.key as Node | undefined)?.range?.[0] ?? node?.range?.[0] ?? 0);
  }

  /** Returns the position of a character of a text, by its offset in the text. */
  positionIn(path: readonly PropertyKey[], offset: number): Position {
    const node = this.#nodeAt(path);
    if (!isScalar(node) || typeof node.value !== 'string' || !node.range) return this.positionOf(path);
    const [start, end] = node.range;
    const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED';
    const first = isBlock ? this.#text.indexOf('\n', start) : start + (node.type === 'PLAIN' ? 0 : 1);
    // The file indents, folds and escapes the text, but has its visible characters in the same order.
    let at = first;
    for (const character of node.value.slice(0, offset).replaceAll(/\s/g, '')) {
      at = this.#text.indexOf(character, at) + character.length;
    }
    const target = node.value.slice(offset).trimStart().charAt(0);
    const found = target === '' ? at : this.#text.indexOf(target, at);
    return this.#at(found < first || found >= end ? start : found);
  }

  /** Returns the innermost node on a path that is in the file. */
  #nodeAt(path: readonly PropertyKey[]): Node | null {
    let node: unknown = this.#document.contents;
    for (const key of path) {
      const inner: unknown = isCollection(node) ? node.get(key, true) : undefined;
      if (!inner || !(inner as Node).range) break;
      node = inner;
    }
    return node as Node | null;
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.file, line: Math.max(1, line), column: Math.max(1, col) };
  }
}
