//! Draws how cost grows: sizes and times on logarithmic axes, where whatever
//! grows linearly is a line of the slope of the dashed one. Writes SVG and
//! needs no font of this machine.

use std::ops::Range;
use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::growth::{Series, Unit};

const SIZE: (u32, u32) = (1040, 460);
const COLORS: [RGBColor; 4] = [
    RGBColor(0, 90, 181),
    RGBColor(220, 50, 32),
    RGBColor(0, 120, 80),
    RGBColor(130, 60, 160),
];

/// Draws the series of each unit beside one another into `file`.
pub(crate) fn draw(file: &Path, series: &[Series]) -> Result<()> {
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    let failed = |error| anyhow!("cannot draw: {error}");
    area.fill(&WHITE)
        .map_err(|error| failed(error.to_string()))?;
    let panels = area.split_evenly((1, 2));
    for (panel, unit) in panels.iter().zip([Unit::Files, Unit::Mebibytes]) {
        let shown: Vec<&Series> = series
            .iter()
            .filter(|one| one.unit == unit && !one.points.is_empty())
            .collect();
        if !shown.is_empty() {
            self::panel(panel, unit, &shown).map_err(|error| failed(error.to_string()))?;
        }
    }
    area.present().map_err(|error| failed(error.to_string()))
}

type Panel<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn panel(area: &Panel<'_>, unit: Unit, series: &[&Series]) -> Drawn {
    let sizes = decades(series, |point| point.0);
    let times = decades(series, |point| point.1);
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(sizes.clone().log_scale(), times.clone().log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(unit.to_string())
        .y_desc("time to the end")
        .x_label_formatter(&size)
        .y_label_formatter(&time)
        .draw()?;

    // Through the middle of the last points, so that it lies among the lines.
    let last = series.iter().filter_map(|one| one.points.last());
    let factor = last
        .clone()
        .map(|(size, time)| (time / size).ln())
        .sum::<f64>();
    let factor = (factor / last.count() as f64).exp();
    let from = sizes.start.max(times.start / factor);
    let to = sizes.end.min(times.end / factor);
    chart
        .draw_series(DashedLineSeries::new(
            [(from, from * factor), (to, to * factor)],
            5,
            5,
            BLACK.mix(0.4).stroke_width(1),
        ))?
        .label("linear")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], BLACK.mix(0.4)));
    for (one, color) in series.iter().zip(COLORS) {
        let name = match one.exponent() {
            Some(exponent) => format!("{} (exponent {exponent:.2})", one.name),
            None => one.name.to_owned(),
        };
        chart
            .draw_series(
                LineSeries::new(one.points.iter().copied(), color.stroke_width(2)).point_size(4),
            )?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}

/// The whole powers of ten around the values of all points.
fn decades(series: &[&Series], value: impl Fn(&(f64, f64)) -> f64) -> Range<f64> {
    let values = || series.iter().flat_map(|one| &one.points).map(&value);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    // A sixth to spare, so that no point lies on the frame.
    10_f64.powf((least / 1.2).log10().floor())..10_f64.powf((most * 1.2).log10().ceil())
}

fn size(size: &f64) -> String {
    match *size {
        size if size >= 1e6 => format!("{:.0}M", size / 1e6),
        size if size >= 1e3 => format!("{:.0}k", size / 1e3),
        size => format!("{size}"),
    }
}

fn time(time: &f64) -> String {
    match *time {
        time if time < 0.9e-3 => format!("{:.0} µs", time * 1e6),
        time if time < 0.9 => format!("{:.0} ms", time * 1e3),
        time => format!("{time:.0} s"),
    }
}
