"""Draws the pictures that the embedded model learns to see: shapes and digits in plain colours, in batches on the GPU.

A scene is a list of objects (name, colour, x, y, size, angle), a background and a kind of disturbance. Masks of all objects are made once
from formulas and strokes (no font, no image file); a picture is made by placing masks on a background.
"""

import math
import random

import torch
import torch.nn.functional as F

SHAPES = ["circle", "square", "triangle", "star", "heart", "cross", "rectangle", "ring"]
DIGITS = [str(d) for d in range(10)]
COLORS = {
    "red": [(220, 30, 30), (255, 0, 0), (190, 20, 40)], "green": [(30, 160, 60), (0, 128, 0), (0, 255, 0), (60, 190, 90)],
    "blue": [(40, 80, 220), (0, 0, 255), (30, 60, 150), (70, 140, 240)], "yellow": [(245, 220, 40), (255, 255, 0)],
    "orange": [(245, 140, 30), (255, 165, 0)], "purple": [(130, 50, 170), (128, 0, 128)], "pink": [(250, 150, 190), (255, 105, 180)],
    "brown": [(120, 75, 40), (139, 69, 19)], "black": [(20, 20, 20), (0, 0, 0)], "white": [(248, 248, 248), (255, 255, 255)],
    "gray": [(140, 140, 140), (128, 128, 128), (165, 165, 165)],
}
TOO_CLOSE = {("red", "orange"), ("orange", "yellow"), ("brown", "red"), ("brown", "orange"), ("pink", "white"), ("yellow", "white"),
             ("brown", "black"), ("purple", "blue"), ("gray", "white"), ("pink", "purple"), ("brown", "purple"), ("gray", "brown")}
MASK_SIZE = 160
THICKNESSES = (0.11, 0.17, 0.25)


def arc(x, y, rx, ry, begin, end, steps=16):
    """Points of a part of an ellipse; degrees, clockwise from the right, y downwards."""
    angles = [math.radians(begin + (end - begin) * i / steps) for i in range(steps + 1)]
    return [(x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles]


# Strokes of each digit in a box from -1 to 1, some in two forms.
STROKES = {
    "0": [[arc(0, 0, 0.55, 0.85, 0, 360, 32)], [arc(0, 0, 0.42, 0.85, 0, 360, 32)]],
    "1": [[[(-0.3, -0.5), (0.08, -0.85), (0.08, 0.85)]], [[(-0.35, -0.6), (0, -0.85), (0, 0.85)], [(-0.4, 0.85), (0.4, 0.85)]]],
    "2": [[arc(0, -0.38, 0.5, 0.47, 180, 395) + [(-0.52, 0.85), (0.55, 0.85)]], [arc(0, -0.4, 0.48, 0.45, 200, 380) + [(0.25, 0.1), (-0.5, 0.85), (0.52, 0.85)]]],
    "3": [[arc(-0.05, -0.42, 0.47, 0.43, 200, 450) , arc(-0.05, 0.42, 0.55, 0.43, 270, 520)], [[(-0.48, -0.85), (0.45, -0.85), (-0.02, -0.12)] + arc(-0.05, 0.38, 0.55, 0.48, 280, 520)]],
    "4": [[[(0.3, 0.85), (0.3, -0.85), (-0.58, 0.32), (0.6, 0.32)]], [[(-0.3, -0.85), (-0.5, 0.15), (0.55, 0.15)], [(0.3, -0.3), (0.3, 0.85)]]],
    "5": [[[(0.48, -0.85), (-0.38, -0.85), (-0.44, -0.08)] + arc(-0.02, 0.3, 0.54, 0.54, 220, 500)], [[(0.45, -0.85), (-0.4, -0.85), (-0.4, -0.1), (0.0, -0.15)] + arc(-0.02, 0.35, 0.52, 0.5, 280, 510)]],
    "6": [[arc(0, 0.35, 0.5, 0.5, 0, 360, 32), arc(0.15, 0.2, 0.65, 1.05, 185, 275)], [[(0.35, -0.85), (-0.2, -0.25), (-0.48, 0.25)], arc(0, 0.37, 0.48, 0.48, 0, 360, 32)]],
    "7": [[[(-0.5, -0.85), (0.52, -0.85), (-0.15, 0.85)]], [[(-0.5, -0.85), (0.5, -0.85), (-0.1, 0.85)], [(-0.25, 0.05), (0.4, 0.05)]]],
    "8": [[arc(0, -0.42, 0.42, 0.42, 0, 360, 32), arc(0, 0.42, 0.52, 0.44, 0, 360, 32)], [arc(0, -0.4, 0.36, 0.44, 0, 360, 32), arc(0, 0.44, 0.44, 0.42, 0, 360, 32)]],
    "9": [[arc(0, -0.35, 0.5, 0.5, 0, 360, 32), arc(-0.15, -0.2, 0.65, 1.05, 5, 95)], [arc(0, -0.37, 0.48, 0.48, 0, 360, 32), [(0.48, -0.3), (0.4, 0.85)]]],
}


def polygon(points, x, y):
    """Whether each (x, y) lies inside, by counting crossings."""
    inside = torch.zeros_like(x, dtype=torch.bool)
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        crosses = ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0 + 1e-9) + x0)
        inside ^= crosses
    return inside


def shape_mask(name, x, y):
    r = (x * x + y * y).sqrt()
    corner = lambda i, n, radius: (radius * math.sin(2 * math.pi * i / n), -radius * math.cos(2 * math.pi * i / n))
    return {
        "circle": lambda: r < 0.85,
        "ring": lambda: (r < 0.85) & (r > 0.5),
        "square": lambda: torch.maximum(x.abs(), y.abs()) < 0.75,
        "rectangle": lambda: (x.abs() < 0.9) & (y.abs() < 0.45),
        "triangle": lambda: polygon([corner(i, 3, 0.95) for i in range(3)], x, y),
        "star": lambda: polygon([corner(i, 10, 0.95 if i % 2 == 0 else 0.4) for i in range(10)], x, y),
        "cross": lambda: (torch.minimum(x.abs(), y.abs()) < 0.27) & (torch.maximum(x.abs(), y.abs()) < 0.85),
        "heart": lambda: (lambda u, v: (u * u + v * v - 1) ** 3 - u * u * v**3 < 0)(x * 1.35, -y * 1.35 + 0.1),
    }[name]()


def stroke_mask(strokes, thickness, x, y):
    nearest = torch.full_like(x, 9.0)
    for points in strokes:
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            dx, dy = x1 - x0, y1 - y0
            t = (((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy + 1e-9)).clamp(0, 1)
            nearest = torch.minimum(nearest, ((x - x0 - t * dx) ** 2 + (y - y0 - t * dy) ** 2).sqrt())
    return nearest < thickness


def make_masks(device):
    """All masks [number, 1, MASK_SIZE, MASK_SIZE], and for each name the numbers of its masks."""
    fine = torch.linspace(-1.1, 1.1, MASK_SIZE * 2, device=device)
    y, x = torch.meshgrid(fine, fine, indexing="ij")
    masks, index = [], {}
    for name in SHAPES:
        index[name] = [len(masks)]
        masks.append(shape_mask(name, x, y))
    for name, forms in STROKES.items():
        index[name] = list(range(len(masks), len(masks) + len(forms) * len(THICKNESSES)))
        masks += [stroke_mask(form, t, x, y) for form in forms for t in THICKNESSES]
    return F.avg_pool2d(torch.stack(masks).float()[:, None], 2), index


def color(name):
    base = random.choice(COLORS[name])
    return [min(255.0, max(0.0, c + random.gauss(0, 8))) / 255 for c in base]


def differs(a, b):
    return a != b and (a, b) not in TOO_CLOSE and (b, a) not in TOO_CLOSE


def draw(scenes, masks, index, height, width):
    """Pictures [number, 3, height, width] of 8-bit values as the image processor would pass them on: integers / 255."""
    device = masks.device
    canvas = torch.tensor([color(s["background"]) for s in scenes], device=device)[:, :, None, None].expand(-1, -1, height, width).clone()
    short = min(height, width)
    for slot in range(max(len(s["objects"]) for s in scenes)):
        theta, chosen, colors = [], [], []
        for scene in scenes:
            if slot >= len(scene["objects"]):
                theta.append([[1.0, 0, 9.0], [0, 1.0, 9.0]])  # far outside
                chosen.append(0)
                colors.append([0.0] * 3)
                continue
            name, paint, x, y, size, angle = scene["objects"][slot]
            # From picture coordinates (-1 to 1) to mask coordinates: move, undo the aspect, turn, scale.
            sx, sy = width / short / size, height / short / size
            c, s = math.cos(angle), math.sin(angle)
            theta.append([[c * sx, s * sy, -(c * sx * x + s * sy * y)], [-s * sx, c * sy, s * sx * x - c * sy * y]])
            chosen.append(random.choice(index[name]))
            colors.append(color(paint))
        grid = F.affine_grid(torch.tensor(theta, device=device), [len(scenes), 1, height, width], align_corners=False)
        mask = F.grid_sample(masks[chosen], grid / 1.1, align_corners=False)
        canvas = canvas + mask * (torch.tensor(colors, device=device)[:, :, None, None] - canvas)
    return disturb(canvas, scenes).mul(255).round().clamp(0, 255) / 255


def disturb(canvas, scenes):
    """Light noise on most pictures; for scenes that show nothing it knows, strong noise, stripes or a colour gradient."""
    number, _, height, width = canvas.shape
    device = canvas.device
    light = torch.tensor([random.choice([0.0, 0.0, 0.01, 0.03]) for _ in scenes], device=device)
    canvas = canvas + light[:, None, None, None] * torch.randn_like(canvas)
    y, x = torch.meshgrid(torch.linspace(0, 1, height, device=device), torch.linspace(0, 1, width, device=device), indexing="ij")
    for i, scene in enumerate(scenes):
        if scene["kind"] == "noise":
            coarse = torch.rand(1, 3, random.choice([6, 12, 40, height]), random.choice([6, 12, 40, width]), device=device)
            canvas[i] = F.interpolate(coarse, (height, width), mode=random.choice(["nearest", "bilinear"]))[0]
        elif scene["kind"] == "stripes":
            wave = torch.sin((x * random.uniform(-1, 1) + y * random.uniform(-1, 1)) * random.uniform(25, 90)) > 0
            canvas[i] = torch.where(wave, canvas[i], torch.rand(3, 1, 1, device=device))
        elif scene["kind"] == "gradient":
            a, b, c = torch.rand(3, 3, 1, 1, device=device)
            canvas[i] = a + (b - a) * x + (c - a) * y * 0.5
    return canvas
