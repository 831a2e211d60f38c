export type TokenKind = 'end' | 'identifier' | 'in' | 'notin' | '!' | '=' | '==' | '!=' | '>' | '<' | ',' | '(' | ')';
export interface Token {
  readonly kind: TokenKind;
  /** As written; '' at the end. */
  readonly text: string;
}

/** Longest first, so that "==" is not read as two. */
const SYMBOLS = ['==', '!=', '=', '!', '>', '<', ',', '(', ')'] as const;
const KEYWORDS: ReadonlyMap<string, TokenKind> = new Map([
  ['in', 'in'],
  ['notin', 'notin'],
]);
/** Words end at white space and symbols; everything else is part of them, and for the validation to judge. */
const WORD = /[^ \t\r\n=!(),<>]+/y;
const SPACE = /[ \t\r\n]*/y;
const END: Token = { kind: 'end', text: '' };

/** Reads a label selector token by token. */
export class Lexer {
  readonly #text: string;
  #at = 0;
  #next: Token | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next token, left where it is. */
  peek(): Token {
    return (this.#next ??= this.#scan());
  }

  take(): Token {
    const token = this.peek();
    this.#next = undefined;
    return token;
  }

  #scan(): Token {
    this.#match(SPACE);
    if (this.#at >= this.#text.length) return END;
    const symbol = SYMBOLS.find((s) => this.#text.startsWith(s, this.#at));
    if (symbol !== undefined) {
      this.#at += symbol.length;
      return { kind: symbol, text: symbol };
    }
    const text = this.#match(WORD);
    return { kind: KEYWORDS.get(text) ?? 'identifier', text };
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += text.length;
    return text;
  }
}
