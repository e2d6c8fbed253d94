// Interaction of the curves: a cursor that reads all of them, phases that can be chosen and zoomed, copy buttons.
// The curves themselves are in the page already; nothing here builds markup from text (textContent only).
(function () {
  "use strict";

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function clock(seconds) {
    if (seconds < 120) return Number(seconds.toFixed(1)) + " s";
    const whole = Math.round(seconds);
    const pad = function (value) { return String(value).padStart(2, "0"); };
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor(whole / 60) % 60;
    return hours ? hours + ":" + pad(minutes) + ":" + pad(whole % 60) : minutes + ":" + pad(whole % 60);
  }

  // Index of the value nearest to t in a rising list; -1 when it is empty.
  function nearest(times, t) {
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < t) low = middle + 1; else high = middle;
    }
    return low > 0 && t - times[low - 1] <= times[low] - t ? low - 1 : times.length ? low : -1;
  }

  function copyButtons() {
    document.querySelectorAll(".copy").forEach(function (button) {
      const label = button.textContent;
      button.addEventListener("click", function () {
        const code = button.parentNode.querySelector("code");
        copyText(code).then(function () { button.textContent = "Copied"; }, function () { button.textContent = "Selected"; });
        button.addEventListener("blur", function () { button.textContent = label; }, { once: true });
      });
    });
  }

  // Where the clipboard may not be written (a file opened from disk), the text is selected for the reader's own copy.
  function copyText(code) {
    if (navigator.clipboard && window.isSecureContext) {
      return navigator.clipboard.writeText(code.textContent).catch(function () { return copySelected(code); });
    }
    return copySelected(code);
  }
  function copySelected(code) {
    const range = document.createRange();
    range.selectNodeContents(code);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy") ? Promise.resolve() : Promise.reject(new Error("not copied"));
  }

  function Stack(root, data) {
    this.root = root;
    this.data = data;
    this.rail = document.getElementById("cursor");
    this.readout = document.getElementById("readout");
    this.tracks = Array.from(root.querySelectorAll(".track"));
    this.times = this.stepTimes();
    this.from = 0;
    this.to = data.end;
    this.at = null;
    this.listen();
  }

  // The cursor moves over the rows of the longest table.
  Stack.prototype.stepTimes = function () {
    return Object.values(this.data.rows).map(function (rows) { return rows.t; })
      .reduce(function (longest, times) { return times.length > longest.length ? times : longest; }, []);
  };

  Stack.prototype.listen = function () {
    const stack = this;
    this.root.querySelectorAll(".plot .track, .lane .track, .rail").forEach(function (track) {
      track.addEventListener("pointermove", function (event) { stack.point(track, event); });
      track.addEventListener("pointerdown", function (event) {
        stack.rail.focus({ preventScroll: true });
        stack.point(track, event);
      });
      track.addEventListener("pointerleave", function (event) { if (event.pointerType === "mouse") stack.hide(); });
    });
    this.rail.addEventListener("keydown", function (event) { stack.key(event); });
    this.rail.addEventListener("blur", function () { stack.hide(); });
    this.root.querySelectorAll("[data-phase]").forEach(function (button) {
      button.addEventListener("click", function () { stack.choose(Number(button.dataset.phase)); });
    });
    this.root.querySelectorAll("[data-roving]").forEach(rove);
    this.root.querySelectorAll("[data-from]").forEach(function (button) {
      button.addEventListener("click", function () { stack.toggleCycle(button); });
    });
    this.root.querySelectorAll("[data-zoom]").forEach(function (button) {
      button.addEventListener("click", function () { stack.toggleZoom(Number(button.dataset.zoom), button); });
    });
    this.root.querySelectorAll("[data-close]").forEach(function (button) {
      button.addEventListener("click", function () { stack.choose(Number(button.dataset.close)); });
    });
  };

  Stack.prototype.point = function (track, event) {
    const box = track.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const index = nearest(this.times, this.from + share * (this.to - this.from));
    if (index >= 0) this.show(this.times[index], event.clientY);
  };

  Stack.prototype.key = function (event) {
    const index = this.at === null ? -1 : nearest(this.times, this.at);
    const page = Math.max(1, Math.round(this.times.length / 20));
    const first = this.times.findIndex(function (t) { return t >= this.from; }, this);
    let last = this.times.length - 1;
    while (last > first && this.times[last] > this.to) last -= 1;
    const moves = {
      ArrowRight: index + 1, ArrowUp: index + 1, ArrowLeft: index - 1, ArrowDown: index - 1,
      PageUp: index + page, PageDown: index - page, Home: first, End: last,
    };
    if (event.key === "Escape") { this.hide(); return; }
    if (!(event.key in moves) || !this.times.length) return;
    event.preventDefault();
    const target = index < 0 && event.key.startsWith("Arrow") ? first : moves[event.key];
    this.show(this.times[Math.min(last, Math.max(first, target))], null);
  };

  Stack.prototype.show = function (t, pointerY) {
    this.at = t;
    const share = (t - this.from) / (this.to - this.from);
    this.root.style.setProperty("--share", String(share));
    this.root.classList.add("reading");
    const phase = this.data.phases.find(function (one) { return one.start <= t && t < one.end; });
    const events = this.eventsAt(t);
    this.fill(t, phase, events);
    this.place(share, pointerY);
    this.rail.setAttribute("aria-valuenow", String(t));
    this.rail.setAttribute("aria-valuetext", this.spoken(t, phase, events));
  };

  Stack.prototype.hide = function () {
    this.at = null;
    this.root.classList.remove("reading");
    this.readout.hidden = true;
    this.rail.setAttribute("aria-valuetext", "off");
  };

  Stack.prototype.eventsAt = function (t) {
    const reach = Math.max(0.5, (this.to - this.from) / 300);
    return this.data.events.filter(function (event) { return Math.abs(event.t - t) <= reach; });
  };

  // [curve, [[series, text]…]] of all curves at t.
  Stack.prototype.valuesAt = function (t) {
    const data = this.data;
    return data.curves.map(function (curve) {
      const index = nearest(data.rows[curve.rows].t, t);
      return [curve, curve.series.map(function (series) { return [series, series.text[index]]; })];
    });
  };

  Stack.prototype.fill = function (t, phase, events) {
    const box = this.readout;
    box.textContent = "";
    const head = element("p", "readout-head");
    head.append(element("b", "", clock(t)), element("span", "", phase ? phase.name : ""));
    box.append(head);
    const list = element("dl");
    this.valuesAt(t).forEach(function (entry) {
      entry[1].forEach(function (pair, index) { list.append(readoutRow(entry[0], pair[0], pair[1], index === 0)); });
    });
    box.append(list);
    events.slice(0, 4).forEach(function (event) {
      const pid = event.pid === null ? "" : ", pid " + event.pid;
      box.append(element("p", "readout-event event-" + event.kind, event.kind + ": " + event.text + pid));
    });
    if (events.length > 4) box.append(element("p", "readout-event", "and " + (events.length - 4) + " more events"));
  };

  function readoutRow(curve, series, text, first) {
    const row = element("div", first ? "first" : "");
    const key = element("i", "key " + series.style);
    const name = curve.series.length > 1 ? series.label : curve.title;
    const label = element("dt");
    label.append(key, document.createTextNode(name));
    row.append(label, element("dd", "", text));
    return row;
  }

  Stack.prototype.spoken = function (t, phase, events) {
    const values = this.valuesAt(t).map(function (entry) {
      return entry[0].title + " " + entry[1].map(function (pair) { return pair[0].label + " " + pair[1]; }).join(", ");
    });
    const happened = events.slice(0, 4).map(function (event) { return event.kind + " " + event.text; });
    return [clock(t) + (phase ? ", phase " + phase.name : "")].concat(values, happened).join("; ");
  };

  // Beside the cursor, on the side with more room; on a narrow screen the style sheet docks it to the bottom.
  Stack.prototype.place = function (share, pointerY) {
    const box = this.readout;
    box.hidden = false;
    const track = this.rail.getBoundingClientRect();
    const x = track.left + share * track.width;
    const left = share < 0.5 ? x + 18 : x - 18 - box.offsetWidth;
    const wanted = pointerY === null ? track.bottom + 12 : pointerY - box.offsetHeight / 2;
    const top = Math.min(window.innerHeight - box.offsetHeight - 8, Math.max(8, wanted));
    box.style.setProperty("--left", Math.max(8, Math.min(window.innerWidth - box.offsetWidth - 8, left)) + "px");
    box.style.setProperty("--top", Math.max(8, top) + "px");
  };

  // Chooses a phase, or lets go of it when it was chosen.
  Stack.prototype.choose = function (index) {
    let chosen = null;
    this.root.querySelectorAll("[data-phase]").forEach(function (button) {
      const on = Number(button.dataset.phase) === index && button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      if (on) chosen = index;
    });
    this.root.querySelectorAll("[data-detail]").forEach(function (detail) { detail.hidden = Number(detail.dataset.detail) !== chosen; });
    this.mark(chosen === null ? { start: 0, end: 0 } : this.data.phases[chosen]);
    if (this.phaseZoomed()) this.zoom(0, this.data.end);
    if (chosen === null) this.root.querySelector('[data-phase="' + index + '"]').focus({ preventScroll: true });
  };

  // Shades a span of time in every plot.
  Stack.prototype.mark = function (span) {
    this.root.querySelectorAll("rect.chosen").forEach(function (box) {
      box.setAttribute("x", String(span.start));
      box.setAttribute("width", String(span.end - span.start));
    });
  };

  // A cycle is zoomed to; the one that is, is left.
  Stack.prototype.toggleCycle = function (button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    if (on) this.zoom(Number(button.dataset.from), Number(button.dataset.to));
    else this.zoom(0, this.data.end);
    button.setAttribute("aria-pressed", String(on));
    button.focus({ preventScroll: true });
  };

  // One tab stop for a strip of buttons: the arrow keys move within it.
  function rove(strip) {
    const buttons = Array.from(strip.querySelectorAll("button"));
    buttons.forEach(function (button, index) {
      button.tabIndex = index ? -1 : 0;
      button.addEventListener("keydown", function (event) {
        const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: buttons.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const next = buttons[Math.min(buttons.length - 1, Math.max(0, to))];
        next.focus();
      });
      button.addEventListener("focus", function () {
        buttons.forEach(function (one) { one.tabIndex = one === button ? 0 : -1; });
      });
    });
  }

  function setZoomLabel(button, on) {
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Whole run" : "Zoom in";
  }

  Stack.prototype.phaseZoomed = function () {
    return this.root.querySelector('[data-zoom][aria-pressed="true"]') !== null;
  };

  Stack.prototype.toggleZoom = function (index, button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    const phase = this.data.phases[index];
    const margin = Math.max(phase.end - phase.start, this.data.end / 1000) * 0.1;
    if (on) this.zoom(Math.max(0, phase.start - margin), Math.min(this.data.end, phase.end + margin));
    else this.zoom(0, this.data.end);
    setZoomLabel(button, on);
  };

  Stack.prototype.zoom = function (from, to) {
    this.hide();
    this.root.querySelectorAll("[data-from], [data-zoom]").forEach(function (button) {
      button.setAttribute("aria-pressed", "false");
      if (button.dataset.zoom) setZoomLabel(button, false);
    });
    this.from = from;
    this.to = to;
    this.root.style.setProperty("--t0", String(from));
    this.root.style.setProperty("--t1", String(to));
    this.root.querySelectorAll(".plot svg, .lane svg").forEach(function (svg) {
      svg.setAttribute("viewBox", from + " 0 " + (to - from) + " " + (svg.dataset.height || 1));
    });
    this.drawAxis();
  };

  Stack.prototype.drawAxis = function () {
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
    const width = this.to - this.from;
    const step = steps.find(function (one) { return width / one <= 9; }) || 86400 * Math.ceil(width / 86400 / 9);
    const axis = document.getElementById("axis");
    axis.textContent = "";
    for (let n = Math.ceil(this.from / step - 1e-9); n * step <= this.to + 1e-9; n += 1) {
      const tick = element("span", "at tick", clock(n * step));
      tick.style.setProperty("--t", String(n * step));
      axis.append(tick);
    }
  };

  copyButtons();
  const root = document.getElementById("stack");
  if (root) new Stack(root, JSON.parse(document.getElementById("stack-data").textContent));
})();
