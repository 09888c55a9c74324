/** Models read from a hub: what is asked of it, and what each of its refusals is called. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assert_clean } from "./axe.mjs";
import {
  answered,
  browser_tests,
  choose_language,
  open,
  screenshot,
  text_within,
} from "./harness.mjs";
import { start_hub, virtual_file } from "./hub_server.mjs";
import { gguf_file, small_checkpoint } from "./model_files.mjs";

const open_in = browser_tests();

const qwen = gguf_file("qwen3-8b.Q4_K_M");
const one = (behaviour = {}) => ({ files: { "Qwen3-8B-Q4_K_M.gguf": qwen.file }, ...behaviour });
const refusing = (status, headers = {}, body = "") => one({ listing: { status, headers, body } });
const checkpoint = small_checkpoint();

let hub;
before(async () => {
  hub = await start_hub({
    "t/gguf": one(),
    "t/elsewhere": one({ redirect: true }),
    "t/whole": one({ ranges: false }),
    "t/shards": { files: checkpoint.files, page_files: 2, redirect: true },
    "t/several": {
      files: {
        "Qwen3-8B-Q8_0.gguf": gguf_file("qwen3-8b.Q8_0").file,
        "Qwen3-8B-Q4_K_M.gguf": qwen.file,
        "mmproj-F16.gguf": virtual_file("x"),
      },
    },
    "t/gated": refusing(403, {
      "X-Error-Code": "GatedRepo",
      "X-Error-Message": "Access to model t/gated is restricted.",
    }),
    "t/gated_files": one({ file: { status: 401, headers: { "X-Error-Code": "GatedRepo" } } }),
    "t/private": refusing(401),
    "t/missing": refusing(404, { "X-Error-Code": "RepoNotFound" }),
    "t/no_revision": refusing(404, { "X-Error-Code": "RevisionNotFound" }),
    "t/limited": refusing(429, { "Retry-After": "30" }),
    "t/limited_quietly": refusing(429),
    "t/broken": refusing(502),
    "t/page": refusing(200, { "content-type": "text/html" }, "<!doctype html><p>Sign in"),
    "t/no_cors": one({ cors: false }),
    "t/slow": one({ delay_ms: 120_000 }),
    "t/stalled": {
      files: { "a.gguf": gguf_file("qwen3-8b.Q4_K_M", 10 * 2 ** 20).file },
      stall: true,
    },
    "t/misstated": one({ stated_extra_bytes: 7 }),
    "t/other_range": one({ content_range: "bytes 7-9/10" }),
    "t/cut": one({ cut_bytes: 1000 }),
    "t/pickle": { files: { "config.json": virtual_file("{}"), "model.bin": virtual_file("x") } },
    "t/empty": { files: { "README.md": virtual_file("x") } },
    "t/part": { files: { "a-00001-of-00003.gguf": virtual_file("x") } },
  });
});
after(() => hub.stop());

/** The tests ask a second address; the browser reports refusals on the console as well. */
const allowed =
  /^request to http:\/\/127|^request failed|^console error: (Failed to load|Access to)/;
const panel = (page) => page.locator("vg-import-panel");
const failure = (page, code) => panel(page).locator(`.failure[data-code=${code}]`);

async function open_panel(page) {
  await page.getByRole("button", { name: /^Your own model|^自己的模型/ }).click();
  await panel(page).locator("#hub").selectOption("other");
  await panel(page).locator("#address").fill(hub.address);
}

async function read(page, name) {
  await panel(page).locator("#name").fill(name);
  await panel(page).locator("#name").press("Enter");
}

const in_panel = (use, options = {}) =>
  open(open_in, { allow: allowed, ...options }, async (page, problems) => {
    await open_panel(page);
    await use(page, problems);
  });

const taken = (page) => panel(page).locator(".taken");
const weights_bytes = (page) =>
  page.locator("vg-app").evaluate((app) => app.store.estimate.weights.total_bytes);

test("nothing leaves the page before Read is pressed", async () => {
  await open(open_in, {}, async (page) => {
    hub.requests.length = 0;
    await open_panel(page);
    await panel(page).locator("#name").fill("t/gguf");
    await panel(page).getByRole("button", { name: "Access token" }).click();
    await panel(page).locator("#token").fill("hf_secret");
    await page.waitForTimeout(300);
    assert.deepEqual(hub.requests, []);
  });
});

test("a GGUF is read by its header alone, wherever its bytes lie", async () => {
  for (const name of ["t/gguf", "t/elsewhere", "t/whole"]) {
    await in_panel(async (page) => {
      hub.requests.length = 0;
      await read(page, name);
      await taken(page).waitFor();
      await answered(page);
      assert.equal(await weights_bytes(page), qwen.tensor_bytes);
      const asked = hub.requests.filter(({ range }) => range);
      assert.deepEqual(
        [asked[0].range, asked.length],
        ["bytes=0-1048575", name === "t/elsewhere" ? 2 : 1],
      );
    });
  }
});

test("a checkpoint in shards is listed page by page, and all its headers are read", async () => {
  await in_panel(async (page) => {
    hub.requests.length = 0;
    await read(page, "t/shards");
    await taken(page).waitFor();
    await answered(page);
    assert.equal(await weights_bytes(page), checkpoint.tensor_bytes);
    const listings = hub.requests.filter(({ path }) => path.includes("/tree/"));
    assert.equal(listings.length, Math.ceil(Object.keys(checkpoint.files).length / 2));
    assert.match(await text_within(panel(page).locator("#status-hub")), /5\sfiles/);
  });
});

test("of several quantisations one is chosen, by a click or by its tag", async () => {
  await in_panel(async (page) => {
    await read(page, "t/several");
    const choices = panel(page).locator("vg-variant-list button");
    await choices.first().waitFor();
    assert.deepEqual(
      await choices.allInnerTexts().then((texts) => texts.map((text) => text.split(/\s/)[0])),
      ["Qwen3-8B-Q4_K_M", "Qwen3-8B-Q8_0"],
    );
    await choices.first().click();
    await taken(page).waitFor();
    assert.equal(await weights_bytes(page), qwen.tensor_bytes);
    await read(page, "t/several:q8_0");
    await page.waitForFunction(
      (bytes) => document.querySelector("vg-app").store.estimate.weights.total_bytes > bytes,
      qwen.tensor_bytes,
    );
  });
});

const kFailures = [
  ["t/nothing", "repo_missing", /no such model, or it is private/],
  ["t/missing", "repo_missing", /no such model, or it is private/],
  ["t/no_revision@v9", "revision_missing", /no such branch/],
  ["t/private", "no_access", /signed-in readers.*\(401\)/],
  ["t/gated", "gated", /gated.*Access to model t\/gated is restricted\..*Accept them/],
  ["t/gated_files", "gated", /gated/],
  ["t/limited", "rate_limited_until", /429.*30 s/],
  ["t/limited_quietly", "rate_limited", /429/],
  ["t/broken", "server_error", /answered 502/],
  ["t/page", "not_a_listing", /did not answer as a hub does/],
  ["t/no_cors", "unreachable", /does not say why.*CORS.*drop them here/],
  ["t/misstated", "wrong_length", /5,021,851,303\sB.*5,021,851,296\sB/],
  ["t/other_range", "wrong_range", /bytes 7-9\/10/],
  ["t/cut", "cut_short", /broke off/],
  ["t/pickle", "pickle_only", /pickled/],
  ["t/empty", "no_model", /no \.safetensors and no \.gguf/],
  ["t/part", "part_missing", /Part 2 of 3/],
  ["t/several:Q2_K", "file_missing", /Q2_K/],
  ["not a name", "bad_name", /“not a name”/],
];

test("each refusal has its own words, and the model stays as it was", async () => {
  await in_panel(async (page) => {
    const before = await weights_bytes(page);
    for (const [name, code, text] of kFailures) {
      await read(page, name);
      await failure(page, code).waitFor();
      assert.match(await failure(page, code).innerText(), text, name);
    }
    assert.equal(await weights_bytes(page), before);
  });
});

test("each refusal is in Chinese where the page is", async () => {
  await in_panel(
    async (page) => {
      for (const [name, code] of kFailures) {
        await read(page, name);
        await failure(page, code).waitFor();
        const [error] = await failure(page, code).locator(".error").allInnerTexts();
        assert.match(error, /[\u4e00-\u9fff]{2}/, name);
        assert.doesNotMatch(error, /[{}]|undefined/, name);
      }
    },
    { locale: "zh-CN" },
  );
});

test("a server that says nothing is given up after a while", async () => {
  await in_panel(
    async (page) => {
      await read(page, "t/slow");
      await panel(page).locator(".running").waitFor();
      await page.waitForTimeout(300);
      await page.clock.fastForward(31_000);
      await failure(page, "timeout").waitFor();
      assert.match(await failure(page, "timeout").innerText(), /nothing for 30 s/);
    },
    { prepare: (page) => page.clock.install() },
  );
});

test("a long header shows how far it is and can be cancelled", async () => {
  await in_panel(async (page) => {
    const before = await weights_bytes(page);
    await read(page, "t/stalled");
    await panel(page).getByRole("progressbar").waitFor();
    await panel(page).getByRole("button", { name: "Cancel" }).click();
    await failure(page, "cancelled").waitFor();
    assert.equal(await weights_bytes(page), before);
    // What had the focus is gone; it has not fallen back to the beginning of the page.
    const focus = await page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      return element?.id;
    });
    assert.equal(focus, "status-hub");
  });
});

test("without a network it says so", async () => {
  await in_panel(async (page) => {
    await page.context().setOffline(true);
    await read(page, "t/gguf");
    await failure(page, "offline").waitFor();
    await page.context().setOffline(false);
  });
});

test("where the page's policy forbids the hub, that is what it says", async () => {
  const prepare = (page) =>
    page.route(/\/$/, async (route) => {
      const response = await route.fetch();
      const html = (await response.text()).replace(/connect-src [^;]+/, "connect-src 'self'");
      await route.fulfill({ response, body: html });
    });
  const allow = /^console error: (Connecting|Refused|Fetch API)|^request/;
  await in_panel(
    async (page) => {
      hub.requests.length = 0;
      await read(page, "t/gguf");
      await failure(page, "policy_blocked").waitFor();
      assert.deepEqual(hub.requests, []);
    },
    { prepare, allow },
  );
});

test("ModelScope is asked in its own way", async () => {
  const asked = [];
  await open(open_in, { allow: /modelscope/ }, async (page) => {
    await page.route("https://modelscope.cn/**", async (route) => {
      const url = new URL(route.request().url());
      asked.push(url.pathname + url.search);
      const headers = { "access-control-allow-origin": "*" };
      const response = await fetch(`${hub.address}${url.pathname}${url.search}`, {
        headers: route.request().headers().range ? { range: route.request().headers().range } : {},
      });
      await route.fulfill({
        status: response.status,
        headers: { ...headers, "content-type": "application/octet-stream" },
        body: Buffer.from(await response.arrayBuffer()),
      });
    });
    await page.getByRole("button", { name: /^Your own model/ }).click();
    await panel(page).locator("#hub").selectOption("https://modelscope.cn");
    await read(page, "t/gguf");
    await taken(page).waitFor();
    assert.equal(await weights_bytes(page), qwen.tensor_bytes);
  });
  assert.deepEqual(asked.slice(0, 2), [
    "/api/v1/models/t/gguf/repo/files?Revision=master&Recursive=true",
    "/models/t/gguf/resolve/master/Qwen3-8B-Q4_K_M.gguf",
  ]);
});

test("the token goes to the hub alone, and is kept nowhere", async () => {
  await in_panel(async (page) => {
    hub.requests.length = 0;
    await panel(page).getByRole("button", { name: "Access token" }).click();
    await panel(page).locator("#token").fill("hf_secret");
    assert.match(await panel(page).locator("#token-note").innerText(), /127\.0\.0\.1:\d+ alone/);
    await read(page, "t/elsewhere");
    await taken(page).waitFor();
    await page.waitForFunction(() => location.hash.includes("model_config"));
    for (const { server, authorization } of hub.requests)
      assert.equal(authorization, server === "hub" ? "Bearer hf_secret" : undefined);
    const kept = await page.evaluate(
      () => location.href + JSON.stringify({ ...localStorage, ...sessionStorage }),
    );
    assert.doesNotMatch(kept, /hf_secret/);
  });
});

test("a choice in the other language keeps what has been read", async () => {
  await in_panel(async (page) => {
    await read(page, "t/gated");
    await failure(page, "gated").waitFor();
    await choose_language(page, "中文", "zh-CN");
    assert.match(await failure(page, "gated").innerText(), /授权/);
  });
});

test("a model is found, chosen and read by keyboard alone", async () => {
  await in_panel(async (page) => {
    await panel(page).locator("#name").focus();
    await page.keyboard.type("t/several");
    await page.keyboard.press("Enter");
    await panel(page).locator("vg-variant-list").waitFor();
    // Over Read, the hub, the token and the address to the first choice.
    for (let tabs = 0; tabs < 5; ++tabs) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await taken(page).waitFor();
    assert.equal(await weights_bytes(page), qwen.tensor_bytes);
  });
});

for (const [language, locale] of [
  ["en", "en-US"],
  ["zh", "zh-CN"],
]) {
  for (const colorScheme of ["light", "dark"]) {
    for (const [size, viewport] of [
      ["wide", { width: 1320, height: 900 }],
      ["phone", { width: 390, height: 844 }],
    ]) {
      test(`every state is accessible and fits: ${language}, ${colorScheme}, ${size}`, async () => {
        await in_panel(
          async (page) => {
            const look = async (state) => {
              await assert_clean(page, state);
              const sideways = await page.evaluate(
                () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
              );
              assert.ok(sideways <= 0, state);
              await panel(page).scrollIntoViewIfNeeded();
              await screenshot(page, `import-${state}-${size}-${language}-${colorScheme}`);
            };
            await panel(page)
              .getByRole("button", { name: /Access token|访问令牌/ })
              .click();
            await look("token");
            for (const [name, code] of [
              ["t/gated", "gated"],
              ["t/no_cors", "unreachable"],
            ]) {
              await read(page, name);
              await failure(page, code).waitFor();
              await look(code);
            }
            await read(page, "t/several");
            await panel(page).locator("vg-variant-list").waitFor();
            await look("choice");
            await read(page, "t/slow");
            await panel(page).getByRole("progressbar").waitFor();
            await look("reading");
            await read(page, "t/shards");
            await taken(page).waitFor();
            await look("taken");
          },
          { locale, colorScheme, viewport },
        );
      });
    }
  }
}
