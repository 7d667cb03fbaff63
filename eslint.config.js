import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** What Node and browsers both define, for the plain JavaScript files. */
const names = [
  'process',
  'console',
  'Buffer',
  'URL',
  'TextDecoder',
  'TextEncoder',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
];
const globals = Object.fromEntries([...names, 'WebAssembly', 'performance'].map((name) => [name, 'readonly']));

export default tseslint.config(
  {
    ignores: [
      'node_modules/',
      'dist/',
      'custom-ops/build/',
      'docs/site/',
      'src/backends/wasm/kernels_wasm.ts',
      'src/backends/emulator/devices/worker_source.ts',
      'test/goldens/',
      '**/.cache/',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    languageOptions: { globals },
    rules: {
      'max-lines': ['warn', { max: 400 }],
      eqeqeq: ['error', 'always'],
      'no-var': 'error',
      'prefer-const': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
);
